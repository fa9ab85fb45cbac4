// What an eye would say of the page as it is laid out now: overflow, contrast of each text, what the first screen says.
() => {
  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const brush = pixel.getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, under) => [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  const canvas = dark && scheme.includes("dark") ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const lineage = (element) => {
    const all = [];
    for (let each = element; each; each = each.parentElement) all.unshift(each);
    return all;
  };
  const ground = (element) =>
    lineage(element).reduce((under, each) => over(rgba(getComputedStyle(each).backgroundColor), under), canvas);
  const opacity = (element) => lineage(element).reduce((all, each) => all * Number(getComputedStyle(each).opacity), 1);

  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    const element = node.parentElement;
    const said = node.textContent.trim();
    if (!said || ["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"].includes(element.tagName)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width < 2 || box.height < 2 || style.visibility !== "visible") continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const svg = element instanceof SVGElement;
    const paint = rgba(svg ? style.fill : style.color).slice();
    paint[3] *= opacity(element);
    const under = ground(svg ? element.closest("svg") : element);
    texts.push({
      text: said.slice(0, 500),
      ratio: ratio(over(paint, under), under),
      tag: element.tagName.toLowerCase(),
      size: parseFloat(style.fontSize),
      top: box.top + scrollY,
      bottom: box.bottom + scrollY,
      left: box.left,
      right: box.right,
    });
  }
  const page = document.documentElement;
  return {
    overflow: Math.max(page.scrollWidth, document.body.scrollWidth) - page.clientWidth,
    width: page.clientWidth,
    height: page.scrollHeight,
    background: light(ground(document.body)),
    texts,
  };
}
