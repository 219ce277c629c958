// What a person may need of the page and a look at it may miss: returns a list of sentences.

(() => {
  const faults = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const brief = (node) => `<${node.tagName.toLowerCase()} class="${node.getAttribute("class") ?? ""}">`;

  // Names that point at something
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`id ${id} is given twice`);
  for (const attribute of ["for", "aria-describedby", "aria-labelledby", "aria-controls"]) {
    for (const node of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of node.getAttribute(attribute).split(/\s+/)) {
        if (!ids.includes(id)) faults.push(`${attribute} of ${brief(node)} points at nothing: ${id}`);
      }
    }
  }

  // Structure
  if (!document.documentElement.lang) faults.push("the page has no language");
  if (!document.title) faults.push("the page has no title");
  for (const tag of ["h1", "main"]) {
    if (document.querySelectorAll(tag).length !== 1) faults.push(`the page must have one ${tag}`);
  }
  let level = 1;
  for (const node of [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown)) {
    const own = Number(node.tagName[1]);
    if (own > level + 1) faults.push(`heading ${node.textContent} skips a level`);
    level = own;
  }

  // Pictures in words
  for (const node of [...document.querySelectorAll("svg, img, canvas, .plot")].filter(shown)) {
    const told = node.closest("[role=img][aria-label]:not([aria-label=''])");
    const quiet = node.getAttribute("alt") === "" || node.closest("[aria-hidden=true]");
    if (!told && !quiet && !node.getAttribute("alt")) faults.push(`${brief(node)} is a picture without words`);
  }

  // Contrast
  const parse = (text) => {
    const [r, g, b, a = 1] = (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return text === "none" || text === "transparent" ? [0, 0, 0, 0] : [r, g, b, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, k) => a * value + (1 - a) * below[k]);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const faded = (style) => Number(style.opacity) * Number(style.filter.match(/opacity\(([\d.]+)\)/)?.[1] ?? 1);
  const drawing = (node) => node instanceof SVGElement && !(node instanceof SVGSVGElement);

  /** Text and what lies behind it, as they are painted: from the root up, each part over the last. */
  function painted(node, box) {
    const chain = [];
    for (let at = node; at !== null; at = at.parentElement) chain.unshift(at);
    let behind = [255, 255, 255];
    let text = behind;
    const layers = [];
    for (const at of chain) {
      const style = window.getComputedStyle(at);
      layers.push([behind, faded(style)]);
      if (!drawing(at)) behind = over(parse(style.backgroundColor), behind);
    }
    if (drawing(node)) {
      const place = [box.left + box.width / 2, box.top + box.height / 2];
      const shapes = document.elementsFromPoint(...place).filter((at) => drawing(at) && at.tagName !== "text" && at.tagName !== "tspan");
      for (const shape of shapes.reverse()) {
        const style = window.getComputedStyle(shape);
        const [r, g, b, a] = parse(style.fill);
        behind = over([r, g, b, a * Number(style.fillOpacity)], behind);
      }
    }
    const style = window.getComputedStyle(node);
    text = over(parse(drawing(node) ? style.fill : style.color), behind);
    for (const [below, share] of layers.reverse()) {
      text = over([...text, share], below);
      behind = over([...behind, share], below);
    }
    return [text, behind];
  }

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const words = texts.currentNode.data.trim();
    if (!words || !shown(node) || node.closest(":disabled, noscript, script, option, title")) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width < 1 || box.right < 0) continue;
    const found = ratio(...painted(node, box));
    if (found < 4.5) faults.push(`contrast ${found.toFixed(2)} of "${words.slice(0, 40)}" in ${brief(node)}`);
  }
  for (const node of [...document.querySelectorAll("input[type=text], select")].filter(shown)) {
    const found = ratio(...painted(node, node.getBoundingClientRect()));
    if (found < 4.5) faults.push(`contrast ${found.toFixed(2)} of ${brief(node)}`);
  }

  // Everything within the window; what scrolls by itself may be wider than its frame
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${wide}`);
  for (const node of [...document.querySelectorAll("main *, header *, nav *, footer *")].filter(shown)) {
    const box = node.getBoundingClientRect();
    if (box.right > wide + 1 && !node.closest(".scroll, .echo, svg svg, .main-svg")) faults.push(`${brief(node)} reaches ${Math.round(box.right)} in a window of ${wide}`);
    const cut = ["hidden", "clip"].includes(window.getComputedStyle(node).overflowX) && !(node instanceof SVGElement);
    if (cut && node.scrollWidth > node.clientWidth + 1) faults.push(`${brief(node)} cuts off what it holds`);
  }
  for (const node of [...document.querySelectorAll(".drawing svg text")].filter(shown)) {
    const [own, frame] = [node, node.ownerSVGElement].map((at) => at.getBoundingClientRect());
    const out = Math.max(frame.left - own.left, own.right - frame.right, frame.top - own.top, own.bottom - frame.bottom);
    if (out > 2) faults.push(`"${node.textContent}" is cut off by ${Math.round(out)} in its drawing`);
  }
  return faults;
})();
