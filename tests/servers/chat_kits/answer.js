// How every kit asks: POST /stream answers with lines of JSON, {"text", "new"} or {"error"}; POST /whole with all bubbles.
const session = crypto.randomUUID();

async function asked(path, text, signal) {
  const response = await fetch(path, {method: "POST", body: JSON.stringify({session, text}), signal});
  if (!response.ok) throw new Error(await response.text());
  return response;
}

export const wholeAnswer = async (text) => (await asked("/whole", text)).json();

// The bubbles of the answer as they grow.
export async function* bubblesOf(text, signal) {
  const reader = (await asked("/stream", text, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  const bubbles = [""];
  for (let rest = ""; ;) {
    const {done, value} = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const piece = JSON.parse(line);
      if (piece.error) throw new Error(piece.error);
      if (piece.new) bubbles.push("");
      bubbles.push(bubbles.pop() + piece.text);
    }
    yield [...bubbles];
  }
}
