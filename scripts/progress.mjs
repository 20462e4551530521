// The progress of a step that installs or builds, in words on stderr.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How often the line at a terminal is drawn, and how often a line is written elsewhere. */
const drawMs = 250
const writeMs = 5_000

/** Shows a title, how many parts of all are done, and the seconds so far: in one line that is rewritten, or line by line. */
export class Progress {
  #stream
  #title
  #count
  #began = Date.now()
  #timer

  /** `count`: returns what is done, of how many, and the word for them; undefined if that is not known yet. */
  constructor(stream, title, count = () => undefined) {
    this.#stream = stream
    this.#title = title
    this.#count = count
    if (!stream.isTTY) stream.write(`atrium: ${title}\n`)
    this.#draw()
    this.#timer = setInterval(
      () => (stream.isTTY ? this.#draw() : stream.write(`${this.#words()}\n`)),
      stream.isTTY ? drawMs : writeMs,
    )
  }

  /** Writes a line of the output of the step above the progress. */
  print(text) {
    this.#stream.write(`${this.#clear}${text}\n`)
    this.#draw()
  }

  end(done) {
    clearInterval(this.#timer)
    if (this.#stream.isTTY) this.#stream.write(this.#clear)
    if (done) this.#stream.write(`atrium: ${this.#title}: done, ${this.#seconds} s\n`)
  }

  #draw() {
    if (!this.#stream.isTTY) return
    const words = this.#words()
    this.#stream.write(this.#clear + words.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1)))
  }

  get #seconds() {
    return Math.round((Date.now() - this.#began) / 1000)
  }

  get #clear() {
    return this.#stream.isTTY ? '\r\u001b[K' : ''
  }

  #words() {
    const counted = this.#count()
    const share =
      counted && counted.of > 0
        ? `: ${counted.done} of ${counted.of} ${counted.what} (${Math.floor((100 * counted.done) / counted.of)} %),`
        : ':'
    return `atrium: ${this.#title}${share} ${this.#seconds} s`
  }
}

/** Counts the packages of the lock file that npm has placed. It writes the files of a package after its folder. */
export function installedPackages(root) {
  const { packages = {} } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const fits = (names, own) => names === undefined || names.includes(own)
  const wanted = Object.entries(packages)
    .filter(
      ([path, { link, os, cpu }]) =>
        path.includes('node_modules/') && !link && fits(os, process.platform) && fits(cpu, process.arch),
    )
    .map(([path]) => join(root, path, 'package.json'))
  return () => ({
    done: wanted.filter((path) => existsSync(path)).length,
    of: wanted.length,
    what: 'packages',
  })
}

/** Counts the projects in the output of `tsc -b --verbose`. It names each project when the project is done. */
export function projectsIn() {
  let of = 0
  const done = new Set()
  return {
    count: () => ({ done: done.size, of, what: 'projects' }),
    /** Returns whether a line is only about the progress. */
    line(text) {
      // oxlint-disable-next-line no-control-regex
      const plain = text.replaceAll(/\u001b\[[0-9;]*m/g, '')
      if (/^ {4}\* \S+\.json$/.test(plain)) return Boolean(++of)
      const [, about] =
        /^\S.*? - (Projects? .*|Building project .*|Updating .*|Skipping .*)$/.exec(plain) ?? []
      const [, name] =
        /^(?:Building project|Project|Skipping build of project) '([^']+)'(?! is up to date$)/.exec(
          about ?? '',
        ) ?? []
      if (name !== undefined) done.add(name)
      return about !== undefined || plain.trim() === ''
    },
  }
}
