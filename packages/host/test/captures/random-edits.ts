import { limits } from '@atrium/protocol/limits'
import { CapturedTurn } from '../../src/parts/changes/captured-turn.ts'
import { Taking } from '../../src/parts/changes/taking.ts'
import type { TurnFolder, TurnRecord } from '../../src/parts/changes/turn-record.ts'
import { carryOut, planRedo, planUndo } from '../../src/parts/changes/undo/undo.ts'
import type { PlannedFile } from '../../src/parts/changes/undo/undo.ts'
import { testWorld } from '../world.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'

const directory = '/work'
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const decoder = new TextDecoder()

interface Running {
  readonly turn: CapturedTurn
  readonly id: number
  /** What the running call changes: the files that it names, or any file. Undefined: no call runs. */
  calling: 'any' | ReadonlySet<string> | undefined
  /** The stored record of the turn, as a host finds it after a crash. */
  readonly stored: () => TurnRecord | undefined
}

interface Ended {
  readonly id: number
  folder: TurnFolder
}

export interface SearchResult {
  /** What was lost, or undefined. */
  readonly lost: string | undefined
  /** The numbers of files that were undone, that were redone, and that were conflicts; and of crashes. */
  readonly undone: number
  readonly redone: number
  readonly conflicts: number
  readonly crashes: number
}

/**
 * Random edits in one folder by two agents, people and a terminal, with undos, redos and crashes between them. After a crash the
 * turns are resumed with their stored records, which `recovered` may change. Every edit writes a word of its own. An undo
 * or a redo of a turn must leave the words of all other writers on the disk, even those that were written while a command of the
 * turn ran. There is one exception: while a call that names a file runs, somebody else may write a word into that file. The undo may
 * remove this word, but then the capture that was taken before the undo (the safety capture) has it.
 */
export async function searchEdits(
  steps: number,
  random: (below: number) => number,
  chosen: (file: PlannedFile) => boolean = ({ verdict }) => verdict === 'apply',
  recovered: (record: TurnRecord) => TurnRecord = (record) => record,
): Promise<SearchResult> {
  const captures = new MemoryCaptures()
  const files = new Map()
  captures.folders.set(directory, files)
  const taking = new Taking(captures, { world: testWorld(), limits })
  const running: Running[] = []
  const ended: Ended[] = []
  /** The turns that may have written each word: the turn that wrote it, and the turns whose calls ran at that time. */
  const writers = new Map<string, ReadonlySet<number>>()
  const counts = { undone: 0, redone: 0, conflicts: 0, crashes: 0 }
  let next = 0

  const pick = <T>(items: readonly T[]): T | undefined => items[random(items.length)]
  const text = (path: string) => decoder.decode(files.get(path)?.bytes)
  const put = (path: string, content: string) =>
    files.set(path, { bytes: new TextEncoder().encode(content), mode: '100644' })
  const wordsOnDisk = () =>
    new Set(
      names.flatMap((path) =>
        text(path)
          .split(' ')
          .filter((word) => word !== ''),
      ),
    )
  /** The turns that a call runs of which names this file. */
  const callers = (...paths: readonly string[]) =>
    running
      .filter(({ calling }) => typeof calling === 'object' && paths.some((path) => calling.has(path)))
      .map(({ id }) => id)

  function edit(by: readonly number[], among: readonly string[] = names): void {
    const path = pick(among) ?? 'a'
    const word = `w${++next}`
    const kind = random(10)
    if (kind === 0) return void files.delete(path)
    if (kind === 1 && files.has(path)) {
      const to = pick(among) ?? 'b'
      if (to === path) return
      // A call that moves words to another file counts as a writer of these words.
      for (const moved of text(path).split(' '))
        writers.set(moved, new Set([...(writers.get(moved) ?? []), ...by, ...callers(path, to)]))
      put(to, text(path))
      return void files.delete(path)
    }
    writers.set(word, new Set([...by, ...callers(path)]))
    put(path, kind < 4 ? word : `${text(path)} ${word}`.trim())
  }

  async function begin(): Promise<void> {
    if (running.length === 2 || (running.length === 1 && random(6) > 0)) return
    const one = enter(++next)
    one.turn.expect((of) => taking.latest(of))
    // The host may be killed after it has stored what it expects, and before it has looked at the folder.
    if (random(4) === 0 && one.stored()) await crash()
    else await one.turn.begin(undefined)
  }

  function enter(id: number, record?: TurnRecord): Running {
    let stored = record
    const turn = new CapturedTurn(`t${id}`, [directory], taking, (saved) => void (stored = saved))
    for (const other of running) {
      other.turn.joined(turn, `chat:/${id}`)
      turn.joined(other.turn, `chat:/${other.id}`)
    }
    const one = { turn, id, calling: undefined, stored: () => stored }
    running.push(one)
    return one
  }

  /** The host is killed, somebody may edit a file, and the next host resumes the turns. */
  async function crash(): Promise<void> {
    counts.crashes++
    const killed = running.splice(0)
    if (random(2) === 0) edit([])
    for (const { id, stored } of killed) {
      const record = stored()
      await enter(id, record).turn.begin(record && recovered(record))
    }
  }

  async function end(): Promise<void> {
    const at = random(running.length)
    const [over] = running.splice(at, 1)
    if (!over) return
    for (const other of running) other.turn.left(over.turn)
    const [folder] = (await over.turn.end()).folders
    if (folder) ended.push({ id: over.id, folder })
    if (ended.length > 6) ended.shift()
  }

  async function call(): Promise<void> {
    const one = pick(running)
    if (!one) return
    if (!one.calling) {
      const id = `call-${++next}`
      await one.turn.callsRun([{ id, label: id }])
      const named = names.filter(() => random(3) === 0)
      one.calling = random(2) === 0 ? 'any' : new Set(named)
      if (one.calling !== 'any')
        one.turn.writesOnly(
          id,
          named.map((path) => `file://${directory}/${path}`),
        )
      return
    }
    if (random(3) > 0) return one.calling === 'any' ? edit([one.id]) : edit([one.id], [...one.calling])
    await one.turn.callsRun([])
    one.calling = undefined
  }

  async function takeBack(how: 'undo' | 'redo'): Promise<string | undefined> {
    const of = random(2) === 0 ? ended.at(-1) : pick(ended)
    if (!of) return undefined
    const plan = await (how === 'undo' ? planUndo : planRedo)(captures, taking, of.folder)
    const before = wordsOnDisk()
    const removedByTurn = how === 'redo' ? await removedWords(of.folder) : new Set<string>()
    for (const { turn } of running) turn.disturbed()
    const [outcome] = await carryOut(captures, [{ plan, files: plan.files.filter(chosen) }])
    if (!outcome) throw new Error('no outcome')
    counts.conflicts += plan.files.filter(
      ({ verdict }) => verdict === 'shared' || verdict === 'changed',
    ).length
    if (how === 'undo') counts.undone += outcome.done.length
    else counts.redone += outcome.done.length
    const undone = how === 'undo' ? [...new Set([...(of.folder.undone ?? []), ...outcome.done])] : []
    of.folder = { ...of.folder, undone, safety: plan.safety }
    const after = wordsOnDisk()
    const saved = await wordsIn(plan.safety)
    for (const word of before) {
      if (after.has(word) || removedByTurn.has(word)) continue
      if (!writers.get(word)?.has(of.id)) return `${how} of turn ${of.id} removed ${word} from the disk`
      if (!saved.has(word)) return `${how} of turn ${of.id}: the safety capture lacks ${word}`
    }
    return undefined
  }

  async function wordsIn(capture: string): Promise<ReadonlySet<string>> {
    const empty = await captures.take(directory, {
      of: 'head',
      budget: { bytes: Infinity, files: Infinity, fileBytes: Infinity },
      signal: new AbortController().signal,
    })
    const words = new Set<string>()
    for (const { after } of await captures.compare(empty.id, capture))
      if (after)
        for (const word of decoder.decode(await captures.read(after.content)).split(' ')) words.add(word)
    return words
  }

  /** The words that the turn itself removed: a redo removes them again. */
  async function removedWords({ start = '', end: left = '' }: TurnFolder): Promise<ReadonlySet<string>> {
    const after = await wordsIn(left)
    return new Set([...(await wordsIn(start))].filter((word) => !after.has(word)))
  }

  for (let step = 0; step < steps; step++) {
    const kind = random(20)
    if (kind < 2) await begin()
    else if (kind < 4) await end()
    else if (kind < 12) await call()
    else if (kind < 13) edit([])
    else if (kind === 13) {
      // A terminal reports that it is used.
      for (const { turn } of running) turn.disturbed()
      edit([])
    } else if (kind === 14 && random(4) === 0) await crash()
    else {
      const lost = await takeBack(kind < 18 ? 'undo' : 'redo')
      if (lost !== undefined) return { lost: `step ${step}: ${lost}`, ...counts }
    }
  }
  return { lost: undefined, ...counts }
}
