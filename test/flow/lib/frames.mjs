// Frames: "LENGTH\n" followed by that many bytes, in both directions of the batch interface.

export function frame(bytes) {
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

export class FrameReader {
  #pending = Buffer.alloc(0);

  // Takes bytes as they come and returns the frames that are complete now.
  push(chunk) {
    this.#pending = this.#pending.length ? Buffer.concat([this.#pending, chunk]) : chunk;
    const frames = [];
    for (;;) {
      const end = this.#pending.indexOf(10);
      if (end < 0) break;
      const length = Number(this.#pending.subarray(0, end).toString('latin1'));
      if (!Number.isInteger(length) || length < 0) throw new Error('the stream is not a sequence of frames');
      if (this.#pending.length < end + 1 + length) break;
      frames.push(this.#pending.subarray(end + 1, end + 1 + length));
      this.#pending = this.#pending.subarray(end + 1 + length);
    }
    return frames;
  }
}
