import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Asks on the terminal for a secret, and shows nothing of it. Resolves with an empty text at the end of the input, or at Ctrl-C. */
export async function askSecret(question: string): Promise<string> {
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() })
  // The interface ends the echo of the terminal, so it comes before the question: whoever sees the question may answer at once.
  const prompt = createInterface({ input: process.stdin, output: nothing, terminal: true })
  process.stderr.write(question)
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
  const secret = await Promise.race([prompt.question(''), closed])
  prompt.close()
  process.stderr.write('\n')
  return secret.trim()
}
