import type { CustomizationLoad } from '@atrium/protocol/session/customization'
import { FileError } from '../ports/files.ts'
import type { FileEntry } from '../ports/files.ts'
import { JsonText } from './parse/json-text.ts'
import type { PluginFiles } from './plugin-files.ts'
import { hasHidden, printable, textOf, Unusable } from './parse/plugin-text.ts'
import type { Component, LoadedParts, PluginLimits, Problem } from './plugin.ts'

/**
 * One load of a plugin or folder: what was found, what was wrong, and how much of the limits is left. Each component is
 * attempted by itself, so that what is wrong with one does not affect the others.
 */
export class Reading {
  readonly files: PluginFiles
  readonly limits: PluginLimits
  readonly #components: Component[] = []
  readonly #problems: Problem[] = []
  readonly #lists = new Map<string, Promise<readonly FileEntry[]>>()
  readonly #names = new Set<string>()
  #bytes = 0
  #attempts = 0

  constructor(files: PluginFiles, limits: PluginLimits) {
    this.files = files
    this.limits = limits
  }

  /** The entries of a directory, sorted by name. An entry whose name has a hidden character is left out. */
  list(path: string): Promise<readonly FileEntry[]> {
    const list = this.#lists.get(path) ?? this.#sortedList(path)
    this.#lists.set(path, list)
    return list
  }

  /** The type of a file, found in the listings of the directories above it. Undefined if there is no such file. */
  async typeOf(path: string): Promise<FileEntry['type'] | undefined> {
    if (path === '') return 'directory'
    const slash = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(0, slash))
    const above = await this.typeOf(folder)
    if (above === undefined) return undefined
    try {
      const name = path.slice(slash + 1)
      return (await this.list(folder)).find((entry) => entry.name === name)?.type
    } catch (error) {
      // A plain file in the place of a directory has no files below it, and is no problem. A link that leads out of the folder
      // is listed as a file, too, and is a problem.
      const isPlainFile = above === 'file' && error instanceof FileError && error.reason !== 'outside'
      if (!isPlainFile) this.fail(folder, error)
      return undefined
    }
  }

  async text(path: string): Promise<string> {
    return this.count(await this.bytes(path))
  }

  /**
   * Reads the content of a file, without counting it towards the limit of the plugin's bytes. `count` does that, in a
   * fixed order, so that several files can be read at the same time.
   */
  bytes(path: string): Promise<Uint8Array> {
    return this.files.read(path, this.limits.pluginFileBytes)
  }

  count(bytes: Uint8Array): string {
    const { pluginBytes } = this.limits
    if (this.#bytes + bytes.length > pluginBytes)
      throw new Unusable(`It is left out, because the files have more than ${pluginBytes} bytes together.`)
    this.#bytes += bytes.length
    return textOf(bytes)
  }

  async json(path: string, lenient: boolean): Promise<JsonText> {
    return new JsonText(await this.text(path), lenient, this.limits)
  }

  /** Counts one more component. Returns false, and records a problem, if the plugin has too many components. */
  take(): boolean {
    const { pluginComponents } = this.limits
    if (++this.#attempts <= pluginComponents) return true
    this.problem('', `It has more than ${pluginComponents} components. The others are left out.`)
    return false
  }

  /** Adds a component. If two components have the same name, the first counts. */
  add(component: Component): void {
    const { kind, child, path } = component
    const key = kind === 'hook' ? `hook ${child.id}` : `${kind} ${child.name}`
    if (this.#names.has(key)) {
      this.problem(path, `It is left out, because there is another ${words[kind]} ${printable(child.name)}.`)
      return
    }
    this.#names.add(key)
    this.#components.push(component)
  }

  has(kind: Component['kind']): boolean {
    return this.#components.some((component) => component.kind === kind)
  }

  problem(path: string, message: string): void {
    const problem = { path: printable(path), message }
    const same = this.#problems.filter((each) => each.path === problem.path)
    if (same.length < problemsOfPath && !same.some((each) => each.message === message))
      this.#problems.push(problem)
  }

  /** Records why something failed. An error that was not made for users is not shown to them (S-27). */
  fail(path: string, error: unknown): void {
    const isForUsers = error instanceof FileError || error instanceof Unusable
    this.problem(path, isForUsers ? error.message : 'It cannot be read.')
  }

  /** Does one part of the work. If it fails, only this part is missing. */
  async attempt(path: string, task: () => Promise<void> | void): Promise<void> {
    try {
      await task()
    } catch (error) {
      this.fail(path, error)
    }
  }

  /**
   * Returns what the load has found. `empty` is the load state to report if there are neither components nor
   * problems.
   */
  result(empty: CustomizationLoad): LoadedParts {
    const [components, problems] = [this.#components, this.#problems]
    const [first] = problems
    const load: CustomizationLoad =
      first && components.length > 0
        ? { kind: 'degraded', message: summary(first, problems.length) }
        : first
          ? { kind: 'error', message: summary(first, problems.length) }
          : components.length > 0
            ? { kind: 'loaded' }
            : empty
    return { load, components, problems }
  }

  async #sortedList(path: string): Promise<readonly FileEntry[]> {
    const entries = await this.files.list(path, this.limits.entries)
    const odd = entries.find(({ name }) => hasHidden(name))
    if (odd)
      this.problem(path, `The name ${printable(odd.name)} has a hidden character. The file is left out.`)
    return entries
      .filter(({ name }) => !hasHidden(name))
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }
}

/** The maximum number of problems that are kept for one file. More of them would not help anybody. */
const problemsOfPath = 5

const words: { readonly [K in Component['kind']]: string } = {
  skill: 'skill',
  agent: 'agent',
  prompt: 'prompt',
  rule: 'rule',
  hook: 'file of hooks',
  mcpServer: 'MCP server',
}

function summary({ path, message }: Problem, count: number): string {
  const first = path === '' ? message : `${path}: ${message}`
  if (count === 1) return first
  return `${first} There ${count === 2 ? 'is 1 more problem' : `are ${count - 1} more problems`}.`
}
