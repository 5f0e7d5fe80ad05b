#!/usr/bin/env python3
"""pack_glb.py IN.gltf OUT.glb: moves the bytes of the only buffer, a data: uri, into the binary chunk of a GLB file."""
import base64
import json
import struct
import sys

model = json.load(open(sys.argv[1]))
data = base64.b64decode(model["buffers"][0].pop("uri").split(",")[1])
text = json.dumps(model, separators=(",", ":")).encode()
text += b" " * (-len(text) % 4)
data += bytes(-len(data) % 4)
chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x4E4942) + data
open(sys.argv[2], "wb").write(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
