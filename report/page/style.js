/* style.js: how an object of a report is shown; negative: not at all. */
function styleOf(number) {
  const clash = view.selected;
  if (clash && number === clash.a) return clash.relation === 'b_in_a' ? styles.firstAround : styles.first;
  if (clash && number === clash.b) {
    if (clash.relation === 'duplicate') return styles.striped;
    return clash.relation === 'a_in_b' ? styles.secondAround : styles.second;
  }
  if (view.hiddenLayers.has(objects[number].layer)) return -1;
  if (view.picked === number) return styles.picked;
  if (!clash) return styles.layer;
  return view.ghosts ? styles.ghost : -1;
}
