/** What keeps a command from its work: one sentence with the cause and the way out, and how the process exits. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly exit: 1 | 2

  constructor(sentence: string, exit: 1 | 2 = 1) {
    super(sentence)
    this.exit = exit
  }
}

/** The sentence of anything that was thrown. A stack is of use to nobody who has only the command. */
export function sentenceOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line === '' ? 'Something went wrong and did not say what.' : line
}
