import { randomBytes } from 'node:crypto'
import { access, constants, lstat, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CaptureFailed } from '@atrium/host/ports/captures'
import type {
  Applied,
  CapturedEdit,
  CapturedFile,
  FolderEdits,
  NewFile,
  Omission,
} from '@atrium/host/ports/captures'
import { codeOf } from '../../process/error-code.ts'
import type { Entry, FolderSteps, Journal, Step } from './journal.ts'
import { blobHash, hasVersion, isEditable, presentAt } from './present.ts'
import type { Present, Version } from './present.ts'
import { finishStep, writeTemp } from './step.ts'

export interface ApplyTools {
  readonly journal: Journal
  /** The bytes of the content with this id. Rejects if they are not stored. */
  readonly read: (content: string) => Promise<Uint8Array>
}

/**
 * Applies a group of edits in several folders. An edit whose file has changed meanwhile is not applied, and is
 * returned in `left`. If a new content cannot be written, nothing is applied.
 */
export async function applyEdits(
  tools: ApplyTools,
  groups: readonly FolderEdits[],
): Promise<readonly Applied[]> {
  const folders: CheckedFolder[] = []
  for (const group of groups) folders.push(await checkFolder(tools, group))
  const due = folders.filter(({ steps }) => steps.length > 0)
  const stepsOf = ({ directory, steps }: CheckedFolder) => ({
    directory,
    steps: steps.map(({ step }) => step),
  })
  const entry: Entry = { id: randomBytes(8).toString('hex'), folders: due.map(stepsOf) }
  if (due.length === 0) return folders.map(({ directory, left }) => ({ directory, done: [], left }))
  try {
    await tools.journal.stage(entry)
    for (const { directory, steps } of due)
      for (const { step, content, present } of steps)
        if (content) await writeTemp(directory, step, content, present)
        else await access(dirname(join(directory, step.path)), constants.W_OK)
    await tools.journal.decide(entry)
  } catch (error) {
    // If a temporary file cannot be deleted now, the group stays in the journal, and the next start deletes the file.
    await takeBack(tools.journal, entry).catch(() => {})
    throw new CaptureFailed(`Nothing was changed: ${problemOf(error)}.`)
  }
  const finished = await finish(tools, entry)
  return folders.map((folder) => {
    const { done = [], left = [] } = finished[due.indexOf(folder)] ?? {}
    return { directory: folder.directory, done, left: [...folder.left, ...left] }
  })
}

/** A folder with the steps of its edits. `left`: the edits that are not applied. */
interface CheckedFolder {
  readonly directory: string
  readonly steps: readonly CheckedStep[]
  readonly left: readonly Omission[]
}

interface CheckedStep {
  readonly step: Step
  readonly present: Present
  readonly content?: Uint8Array
}

async function checkFolder(
  tools: ApplyTools,
  { directory: path, edits }: FolderEdits,
): Promise<CheckedFolder> {
  const directory = await realpath(path).catch(() => undefined)
  if (directory === undefined) throw new CaptureFailed(`There is no folder ${path}.`)
  const left: Omission[] = []
  const steps: CheckedStep[] = []
  for (const edit of edits) {
    const checked = await check(tools, directory, edit, edits)
    if (typeof checked === 'string') left.push({ path: edit.path, reason: checked })
    else steps.push(checked)
  }
  return { directory, steps, left }
}

/**
 * Handles the groups of edits that a previous run left in the journal: applies those that were decided, and deletes
 * the temporary files of the others.
 */
export async function recoverEdits(tools: ApplyTools): Promise<readonly Applied[]> {
  const applied: Applied[] = []
  for (const { entry, decided } of await tools.journal.left())
    if (decided) applied.push(...(await finish(tools, entry)))
    else await takeBack(tools.journal, entry)
  return applied
}

/** Applies a decided group, whose new contents are in temporary files. */
async function finish({ journal, read }: ApplyTools, entry: Entry): Promise<readonly Applied[]> {
  const applied: Applied[] = []
  for (const folder of entry.folders) applied.push(await finishFolder(read, folder))
  await journal.forget(entry)
  return applied
}

/** Applies the edits of a folder. Deletions come first, because a new folder may take the place of a deleted file. */
async function finishFolder(read: ApplyTools['read'], { directory, steps }: FolderSteps): Promise<Applied> {
  const done = new Set<string>()
  const left: Omission[] = []
  for (const step of [...steps].toSorted((a, b) => Number(Boolean(a.wanted)) - Number(Boolean(b.wanted)))) {
    const restore = async (present: Present) =>
      writeTemp(directory, step, await read(`${step.store}.${step.wanted?.hash}`), present)
    const reason = await finishStep(directory, step, restore)
    if (reason === undefined) done.add(step.path)
    else left.push({ path: step.path, reason })
  }
  return { directory, done: steps.flatMap(({ path }) => (done.has(path) ? [path] : [])), left }
}

async function takeBack(journal: Journal, entry: Entry): Promise<void> {
  for (const { directory, steps } of entry.folders)
    for (const { temp } of steps) if (temp !== undefined) await rm(join(directory, temp), { force: true })
  await journal.forget(entry)
}

/**
 * Checks one edit. Returns the step that applies the edit, with the file that is there now and the new content. If
 * the edit cannot be applied, returns the reason as a sentence for users.
 */
async function check(
  { read }: ApplyTools,
  directory: string,
  { path, expected, wanted }: CapturedEdit,
  edits: readonly CapturedEdit[],
): Promise<string | CheckedStep> {
  if (!isEditable(path)) return 'The host does not change files of this name.'
  const fresh = wanted && 'bytes' in wanted ? wanted : undefined
  const stored = wanted && 'content' in wanted ? wanted : undefined
  if (expected?.omitted !== undefined || stored?.omitted !== undefined) return 'Its content was not recorded.'
  const before = versionOf(expected)
  const after = fresh ? versionOfNew(fresh, before) : versionOf(stored)
  if ((expected && !before) || (wanted && !after)) return 'Its content is not stored.'
  const found = await presentAt(directory, path, [before])
  // A folder may make way for a file if edits delete the files in it.
  const empties = edits.some((edit) => !edit.wanted && edit.path.startsWith(`${path}/`))
  const present: Present = found.type === 'other' && empties ? { type: 'absent' } : found
  if (present.type === 'other') return present.reason
  if (!hasVersion(present, before)) return 'It was changed meanwhile.'
  const content = fresh?.bytes ?? (stored && (await read(stored.content).catch(() => undefined)))
  if (after && (!content || blobHash(content, after.hash.length) !== after.hash))
    return 'The record of its content is damaged, so it cannot be set back.'
  const step: Step = {
    path,
    // The name of the store that has the content. Empty for a deletion, and for new content, which is only in the
    // temporary file.
    store: stored?.content.split('.')[0] ?? '',
    ...(before && { expected: before }),
    ...(after && { wanted: after, temp: await tempFor(directory, path) }),
  }
  return { step, present, ...(content && { content }) }
}

/** Returns the path of a temporary file in the nearest folder that exists, so that the rename stays on one file system. */
async function tempFor(directory: string, path: string): Promise<string> {
  const name = `.atrium-${randomBytes(8).toString('hex')}.tmp`
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent))
    if ((await lstat(join(directory, parent)).catch(() => undefined))?.isDirectory())
      return `${parent}/${name}`
  return name
}

function versionOf(file: CapturedFile | undefined): Version | undefined {
  const [, hash] = /^[\da-f]{24}\.([\da-f]{40}|[\da-f]{64})$/.exec(file?.content ?? '') ?? []
  return file && hash !== undefined ? { hash, mode: file.mode, size: file.size } : undefined
}

/** Returns the version of new content. Its hash has the length of the present file's hash: SHA-1 or SHA-256. */
function versionOfNew({ bytes, mode }: NewFile, before: Version | undefined): Version {
  return { hash: blobHash(bytes, before?.hash.length ?? 40), mode, size: bytes.length }
}

function problemOf(error: unknown): string {
  const code = codeOf(error) ?? ''
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full'
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return 'the folder may not be written to'
  return `a file could not be written (${code === '' ? 'unknown' : code})`
}
