// The text typed in an element, line by line: one break between two blocks, whatever their margins are, so that the
// paragraphs and line breaks of all editors read alike. An expression whose value is a function of the element.
(element) => {
  if (typeof element.value === "string") return element.value;
  if (!element.isContentEditable) return element.innerText ?? element.textContent ?? "";
  const [BLOCK, BREAK, SPACE] = ["\ufdd0", "\ufdd1", "\ufdd2"]; // occur in no text
  const pieces = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.replace(/[\u200b\ufeff\ufdd0-\ufdd3]/g, "");
      const kept = getComputedStyle(node.parentElement).whiteSpaceCollapse !== "collapse";
      pieces.push(kept ? text.replace(/\r?\n/g, BREAK) : text.replace(/[ \t\r\n]+/g, SPACE));
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      const style = getComputedStyle(node);
      if (style.display === "none") return;
      const block = !/^(inline|contents)/.test(style.display);
      if (block) pieces.push(BLOCK);
      if (node.localName === "br") pieces.push(BREAK);
      for (const child of node.childNodes) walk(child);
      if (block) pieces.push(BLOCK);
    }
  };
  walk(element);
  return pieces
    .join("")
    .replace(/\ufdd2*([\ufdd0\ufdd1])\ufdd2*/g, "$1")
    .replace(/\ufdd1(?=\ufdd0|$)/g, "\ufdd3") // it only keeps the last line of a block open
    .replace(/^[\ufdd0\ufdd2]+|[\ufdd0\ufdd2]+$/g, "")
    .replace(/\ufdd0+|\ufdd1/g, "\n")
    .replace(/\ufdd2+/g, " ")
    .replace(/\ufdd3/g, "");
}
