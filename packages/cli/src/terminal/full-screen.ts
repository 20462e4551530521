/** The alternate screen of a terminal, with the mouse. The screen of the shell is back after `close`, also if the process ends. */
export class FullScreen {
  readonly #out: NodeJS.WriteStream
  #isOpen = false

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: Math.max(20, this.#out.columns || 80), rows: Math.max(6, this.#out.rows || 24) }
  }

  /** How many bytes the terminal has not taken yet. */
  get waiting(): number {
    return this.#out.writableLength
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    // The alternate screen; clicks and the wheel, as SGR sequences.
    this.#out.write('\u001b[?1049h\u001b[?1000h\u001b[?1006h')
    process.on('exit', this.#restore)
  }

  write(text: string): void {
    if (this.#isOpen && text !== '') this.#out.write(text)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#restore()
    this.#isOpen = false
    process.off('exit', this.#restore)
  }

  readonly #restore = (): void => {
    this.#out.write('\u001b[?1006l\u001b[?1000l\u001b[0m\u001b[?25h\u001b[?1049l')
  }
}
