import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, statfs, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CaptureFailed } from '@atrium/host/ports/captures'
import { refuseOdd } from '../git/odd-files.ts'
import type { GitRunner } from '../git/run.ts'
import { BaseObjects } from './objects/base-objects.ts'
import { CaptureChain } from './objects/capture-chain.ts'
import { OwnObjects } from './objects/own-objects.ts'
import type { Place } from './place.ts'
import { ReadFiles } from './objects/read-files.ts'
import { Unchanged } from './unchanged.ts'

/**
 * The objects that a git command sees besides those that it writes: `own` are the stored captures, `all` are these and the
 * objects of the user's repository.
 */
export type View = 'own' | 'all'

export interface StoreRun {
  readonly view: View
  readonly input?: string | Uint8Array
  readonly signal?: AbortSignal
  /** The working tree and the index that the command uses. */
  readonly tree?: { readonly root: string; readonly index?: string }
  /** The folder that gets new objects. Default: the object folder of the store. */
  readonly into?: string
}

/** Data that the last capture of a folder leaves for the next one. Without this data, the next capture only takes longer. */
export interface StoreState {
  readonly root: string
  readonly prefix: string
  /** The tree of the last capture. */
  readonly tree: string
  /** The hash of the tree of the store's index. */
  readonly base: string
  /** A text that changes when the set of tracked or ignored files may have changed. */
  readonly tracking: string
  /** Files whose content is not captured: their paths, and the texts that replace their hashes. */
  readonly omitted: readonly (readonly [path: string, hash: string])[]
}

/**
 * The captures of one folder: a git directory of our own with trees, the contents of changed files, and an index. The
 * user's objects are only read.
 */
export class CaptureStore {
  readonly name: string
  /** The captured folder. */
  readonly directory: string
  /** The folder of the store. */
  readonly folder: string
  readonly gitDir: string
  readonly index: string
  readonly objects: string
  readonly own: OwnObjects
  readonly chain: CaptureChain
  readonly baseObjects = new BaseObjects()
  readonly files = new ReadFiles()
  readonly unchanged = new Unchanged()
  #tidy = false
  readonly #git: GitRunner
  readonly #userObjects: string | undefined

  private constructor(git: GitRunner, folder: string, name: string, { directory, objects }: About) {
    this.name = name
    this.directory = directory
    this.folder = folder
    this.gitDir = join(folder, 'git')
    this.index = join(folder, 'index')
    this.objects = join(this.gitDir, 'objects')
    this.own = new OwnObjects(join(this.objects, 'pack'))
    this.chain = new CaptureChain(join(folder, 'differences'))
    this.#git = git
    this.#userObjects = objects
  }

  /** Opens the store of a folder, or creates it. */
  static async at(git: GitRunner, captures: string, place: Place): Promise<CaptureStore> {
    const name = nameOf(place)
    const store = new CaptureStore(git, join(captures, name), name, aboutOf(place))
    await store.#create(place)
    return store
  }

  /** Opens the existing store of this name. Throws if there is none. */
  static async named(git: GitRunner, captures: string, name: string): Promise<CaptureStore> {
    const folder = join(captures, name)
    const text = await readFile(join(folder, 'folder.json'), 'utf8').catch(() => undefined)
    if (text === undefined) throw new CaptureFailed(damagedRecord)
    return new CaptureStore(git, folder, name, parsedAbout(text))
  }

  /** Whether the folder still has the repository whose objects this store reads. */
  fits(place: Place): boolean {
    return this.#userObjects === aboutOf(place).objects
  }

  async #create(place: Place): Promise<void> {
    const about = JSON.stringify(aboutOf(place))
    const file = join(this.folder, 'folder.json')
    if ((await readFile(file, 'utf8').catch(() => '')) === about) return
    for (const path of ['objects/pack', 'refs', 'info'])
      await mkdir(join(this.gitDir, path), { recursive: true })
    await writeFile(join(this.gitDir, 'HEAD'), 'ref: refs/heads/none\n')
    await writeFile(join(this.gitDir, 'info', 'attributes'), rawBytes)
    await writeFile(join(this.gitDir, 'config'), configOf(place))
    await replace(file, about)
  }

  /** Returns the output of a git command. Throws a `CaptureFailed` if the command fails. */
  async run(args: readonly string[], options: StoreRun): Promise<Buffer> {
    const { exitCode, stdout } = await this.tryRun(args, options)
    if (exitCode !== 0) throw new CaptureFailed(await this.#problem(args[0] ?? ''))
    return stdout
  }

  async tryRun(args: readonly string[], { view, input, signal, tree, into }: StoreRun) {
    const others = [
      ...(into === undefined ? [] : [this.objects]),
      ...(view === 'all' && this.#userObjects !== undefined ? [this.#userObjects] : []),
    ]
    // Git reads the alternates of the user's repository along with its objects.
    if (view === 'all' && this.#userObjects !== undefined)
      refuseOdd(join(this.#userObjects, 'info', 'alternates'))
    try {
      return await this.#git.run([...settings, ...args], {
        cwd: tree?.root ?? this.folder,
        env: {
          GIT_DIR: this.gitDir,
          GIT_OBJECT_DIRECTORY: into ?? this.objects,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: others.map((path) => JSON.stringify(path)).join(':'),
          GIT_NO_REPLACE_OBJECTS: '1',
          GIT_LITERAL_PATHSPECS: '1',
          ...(tree && { GIT_WORK_TREE: tree.root, GIT_INDEX_FILE: tree.index ?? this.index }),
        },
        ...(input !== undefined && { input }),
        ...(signal && { signal }),
      })
    } catch {
      if (signal?.aborted) throw new CaptureFailed('The capture was stopped.')
      throw new CaptureFailed(await this.#problem(args[0] ?? ''))
    }
  }

  async #problem(command: string): Promise<string> {
    const { bavail, bsize } = await statfs(this.folder).catch(() => ({ bavail: 1, bsize: Infinity }))
    if (bavail * bsize < fullBytes) return 'The disk on which the host records files is full.'
    return `The recorded files of this folder could not be used: git ${command} failed.`
  }

  /**
   * Reads the data of the last capture. The read is synchronous, because it takes much less time than a change of
   * threads, and an agent may wait for it.
   */
  readState(): StoreState | undefined {
    try {
      return JSON.parse(readFileSync(join(this.folder, 'state.json'), 'utf8')) as StoreState
    } catch {
      return undefined
    }
  }

  async writeState(state: StoreState): Promise<void> {
    await replace(join(this.folder, 'state.json'), JSON.stringify(state), false)
  }

  /** Removes the lock and the temporary files that a previous run of the host has left, and sets the list of ignored files. */
  async tidy(place: Place): Promise<void> {
    if (this.#tidy) return
    this.#tidy = true
    await this.#exclude(place)
    await rm(`${this.index}.lock`, { force: true })
    const packs = join(this.objects, 'pack')
    for (const name of await readdir(packs))
      if (/tmp[-_]/.test(name)) await rm(join(packs, name), { force: true })
    for (const name of await readdir(this.folder))
      if (name.startsWith('incoming-')) await rm(join(this.folder, name), { recursive: true, force: true })
  }

  /**
   * Links the repository's own list of ignored files into the store, so that the list applies there too. A folder without a
   * repository gets a list that ignores installed packages. Like every such list, it has less weight than a `.gitignore`.
   */
  async #exclude({ repository }: Place): Promise<void> {
    const list = join(this.gitDir, 'info', 'exclude')
    await rm(list, { force: true })
    if (repository) await symlink(join(repository.commonDir, 'info', 'exclude'), list)
    else await writeFile(list, 'node_modules/\n')
  }
}

/**
 * Returns the name of the store of a folder. A folder whose repository changes its kind of hashes gets another store.
 */
export function nameOf({ directory, format }: Pick<Place, 'directory' | 'format'>): string {
  return createHash('sha256').update(`${format}\0${directory}`).digest('hex').slice(0, 24)
}

/** What the file `folder.json` of a store tells about the captured folder. */
interface About {
  readonly directory: string
  readonly format: Place['format']
  /** The path of the objects of the user's repository. */
  readonly objects?: string
}

function parsedAbout(text: string): About {
  try {
    // The file was written by `#create`.
    return JSON.parse(text) as About
  } catch {
    throw new CaptureFailed(damagedRecord)
  }
}

function aboutOf({ directory, format, repository }: Place): About {
  return { directory, format, ...(repository && { objects: join(repository.commonDir, 'objects') }) }
}

async function replace(path: string, text: string, flush = true): Promise<void> {
  await writeFile(`${path}.new`, text, { flush })
  await rename(`${path}.new`, path)
}

/**
 * Settings of every git command. Any name of a file is allowed. Only packs are flushed: the index and the objects that are
 * not in a pack yet may be lost.
 */
const settings = [
  'core.fsync=pack,pack-metadata',
  'core.autocrlf=false',
  'core.protectNTFS=false',
  'core.protectHFS=false',
  'core.logAllRefUpdates=false',
  'pack.threads=1',
  'gc.auto=0',
].flatMap((setting) => ['-c', setting])

/** These attributes override those of the working tree, so that git hashes the bytes of the disk. */
const rawBytes = '* -text -crlf -ident -filter -working-tree-encoding !eol !diff !merge !delta\n'

function configOf({ format, settings: copied }: Place): string {
  const version = format === 'sha1' ? '' : 'repositoryformatversion = 1\n'
  const extension = format === 'sha1' ? '' : `[extensions]\nobjectformat = ${format}\n`
  return `[core]\n${version}bare = false\n${copied.map((line) => `${line}\n`).join('')}${extension}`
}

/** The error message for captures that cannot be read. */
export const damagedRecord =
  'The record of these files is damaged or was deleted, so they are left as they are. A copy of the data folder may have it: atrium restore. Other turns go on.'

/** In bytes. A disk with less free space counts as full. */
const fullBytes = 1024 * 1024
