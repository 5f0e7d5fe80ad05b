#!/usr/bin/env python3
"""make_3mf.py OUT.3mf: a tetrahedron as 3MF, the smallest that the format allows."""
import sys
import zipfile

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MODEL = "http://schemas.microsoft.com/3dmanufacturing"
corners = "".join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
faces = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)))
parts = {
    "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="model" '
    'ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/></Types>',
    "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r" '
    f'Type="{MODEL}/2013/01/3dmodel" Target="/3D/3dmodel.model"/></Relationships>',
    "3D/3dmodel.model": f'{HEAD}<model unit="millimeter" xml:lang="en-US" xmlns="{MODEL}/core/2015/02"><resources>'
    f'<object id="1" type="model"><mesh><vertices>{corners}</vertices><triangles>{faces}</triangles></mesh></object>'
    '</resources><build><item objectid="1"/></build></model>',
}
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as package:
    for name, text in parts.items():
        package.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
