import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { random } from '../measure.ts'

/** A repository for measurements: all files are committed. */
export class MeasuredRepository {
  readonly root: string
  readonly paths: readonly string[]
  readonly #random = random(21)

  /** `each`: how many files are in one folder. */
  constructor(root: string, { files, each, bytes }: { files: number; each: number; bytes: number }) {
    this.root = root
    this.paths = Array.from(
      { length: files },
      (_, i) => `part${Math.floor(i / each) % 20}/module${Math.floor(i / each / 20)}/file${i % each}.ts`,
    )
    mkdirSync(root, { recursive: true })
    this.git('init', '-q')
    for (const path of this.paths) this.write(path, this.text(bytes))
    this.git('add', '-A')
    this.git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '-q', '-m', 'all')
    this.git('status')
  }

  git(...args: readonly string[]): void {
    execFileSync('git', ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', ...args], {
      cwd: this.root,
      stdio: 'ignore',
    })
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  /** Random text that compresses about as well as source code. */
  text(bytes: number): string {
    let text = ''
    while (text.length < bytes) {
      const [a, b, c] = [this.#word(), this.#word(), this.#word()]
      text += `  const ${a}${b} = ${c}(${Math.floor(this.#random() * 1e6)}, ${a})\n`
    }
    return text.slice(0, bytes)
  }

  #word(): string {
    return words[Math.floor(this.#random() * words.length)] ?? ''
  }
}

const words =
  'agent action channel client state turn session reducer snapshot envelope store index tree content change folder'.split(
    ' ',
  )
