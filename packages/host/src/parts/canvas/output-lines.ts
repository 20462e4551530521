/** Cuts the output of a program, which ends anywhere, into lines. Only the lines that may have an address are kept. */
export class OutputLines {
  #rest = ''

  /** The lines that end in this output. */
  read(output: string): readonly string[] {
    const end = output.lastIndexOf('\n')
    const whole = this.#rest + output.slice(0, Math.max(0, end))
    // The beginning of a line that is too long is not needed: the line is never read.
    this.#rest = end < 0 ? (this.#rest + output).slice(-(maxLine + 1)) : output.slice(end + 1)
    if (end < 0 || !whole.includes('://')) return []
    return whole
      .split('\n')
      .filter((line) => line.length <= maxLine && line.includes('://') && hint.test(line))
  }
}

const maxLine = 4096
/** What each address of this machine has. Most addresses in an output are those of other machines. */
const hint = /localhost|127\.|0\.0\.0\.0|\[::/i
