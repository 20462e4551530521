import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Turn } from '@atrium/protocol/chat/state'
import { must } from './failure.ts'
import { sums } from './mcp-server.ts'
import type { Player, Stage } from './stage.ts'
import { callsIn, wordsIn } from './talk.ts'
import type { Talk } from './talk.ts'

/** A story with one agent on a stage of its own; it fails by throwing. Gives the turns whose end is looked at. */
export type Scene = (stage: Stage, talk: Talk) => Promise<Turn>

export const scenes: Readonly<Record<string, Scene>> = {
  text,
  write,
  shell,
  reject,
  cancel,
  again,
  killed,
  waiting,
  tools,
}

/** Whether an agent can play it. */
export function isFor(scene: Scene, { speech }: Player): boolean {
  return scene !== tools || speech.use !== undefined
}

async function text({ player }: Stage, talk: Talk): Promise<Turn> {
  const words = 'Grüße an alle, 世界 👋.'
  const turn = await talk.end(await talk.ask(player.speech.say(words)))
  return complete(turn, words)
}

async function write({ player, work }: Stage, talk: Talk): Promise<Turn> {
  const path = join(work, 'note.txt')
  const turnId = await talk.ask(player.speech.write(path, 'written by an agent'))
  const call = await talk.question(turnId)
  must(!existsSync(path), 'it wrote before it was allowed to')
  await talk.decide(turnId, call, true)
  const turn = complete(await talk.end(turnId))
  must(textIn(path).trimEnd() === 'written by an agent', `the file has ${JSON.stringify(textIn(path))}`)
  return turn
}

async function shell({ player, work }: Stage, talk: Talk): Promise<Turn> {
  const path = join(work, 'touched')
  // It changes something, or some would not ask; and what it prints does not stand in the line.
  const turnId = await talk.ask(player.speech.run(`touch ${path} && expr 111 '*' 9`))
  const call = await talk.question(turnId)
  must(!existsSync(path), 'it ran before it was allowed to')
  await talk.decide(turnId, call, true)
  const turn = complete(await talk.end(turnId))
  must(existsSync(path), 'it did not run')
  const shown = player.mute ? wordsIn(turn) : await talk.output(turn)
  must(shown.includes('999'), `its output is not shown, but ${JSON.stringify(shown.slice(0, 60))}`)
  return turn
}

async function reject({ player, work }: Stage, talk: Talk): Promise<Turn> {
  const path = join(work, 'never.txt')
  const turnId = await talk.ask(player.speech.write(path, 'unwanted'))
  const call = await talk.question(turnId)
  await talk.decide(turnId, call, false)
  const turn = await talk.end(turnId)
  must(!existsSync(path), 'it wrote what was denied')
  const denied = callsIn(turn.responseParts).find(({ toolCallId }) => toolCallId === call.toolCallId)
  must(denied?.status === 'cancelled', `the denied call is ${denied?.status ?? 'gone'}`)
  must(turn.state !== 'error', `the turn ended as an error: ${errorIn(turn)}`)
  return turn
}

async function cancel({ player }: Stage, talk: Talk): Promise<Turn> {
  const turnId = await talk.ask(player.speech.talk(60))
  await talk.hears(turnId, player.speech.mumble)
  await talk.cancel(turnId)
  const cancelled = await talk.end(turnId)
  must(cancelled.state === 'cancelled', `the turn is ${cancelled.state}`)
  const next = await talk.end(await talk.ask(player.speech.say('Still here.')))
  must(!wordsIn(next).includes('...'), 'what was cancelled goes on in the next turn')
  return complete(next, 'Still here.')
}

/** The host is stopped and started: in the next turn the agent says what is new, and nothing again. */
async function again(stage: Stage, talk: Talk): Promise<Turn> {
  const { player, work } = stage
  const path = join(work, 'first.txt')
  const turnId = await talk.ask(player.speech.write(path, 'first'))
  await talk.decide(turnId, await talk.question(turnId), true)
  complete(await talk.end(turnId))
  await stage.end()
  await sleep(player.forgetsForMs ?? 0)
  await stage.rise()
  const turn = complete(await talk.end(await talk.ask(player.speech.say('Second.'))))
  must(wordsIn(turn) === 'Second.', `it said ${JSON.stringify(wordsIn(turn).slice(0, 60))}`)
  must(callsIn(turn.responseParts).length === 0, 'it shows calls of the turn before')
  return turn
}

/** The host dies while the agent talks; the turn says so, and goes on when it is told to. */
async function killed(stage: Stage, talk: Talk): Promise<Turn> {
  const { speech } = stage.player
  const log = join(stage.work, 'log.txt')
  const seconds = speech.both ? 5 : 3
  const line = (word: string) => `echo ${word} >> ${log}`
  const turnId = await talk.ask(speech.both?.(line('one'), seconds, line('two')) ?? speech.talk(seconds))
  if (speech.both) await talk.decide(turnId, await talk.question(turnId), true)
  await talk.hears(turnId, speech.mumble)
  await stage.kill()
  await stage.rise()
  const broken = await talk.end(turnId)
  const part = broken.responseParts.at(-1)
  must(
    part?.kind === 'error' && part.error.errorType === 'interrupted',
    'the turn does not say that it was interrupted',
  )
  must(part.resumable === true, 'the turn cannot go on')
  await talk.resume(turnId)
  if (speech.both) await talk.decide(turnId, await talk.question(turnId), true)
  const turn = complete(await talk.end(turnId), speech.both ? 'Both are done.' : '')
  if (speech.both) must(textIn(log) === 'one\ntwo\n', `done is ${JSON.stringify(textIn(log))}`)
  return turn
}

/** The host dies while somebody is asked; the question stays, and what it is about is done once. */
async function waiting(stage: Stage, talk: Talk): Promise<Turn> {
  const log = join(stage.work, 'once.txt')
  const turnId = await talk.ask(stage.player.speech.run(`echo once >> ${log}`))
  const before = await talk.question(turnId)
  await stage.kill()
  await stage.rise()
  const after = await talk.question(turnId)
  must(after.toolCallId === before.toolCallId, 'another question waits than before')
  must(!existsSync(log), 'it was done before it was allowed')
  await talk.decide(turnId, after, true)
  const turn = complete(await talk.end(turnId))
  must(textIn(log) === 'once\n', `done is ${JSON.stringify(textIn(log))}`)
  return turn
}

/** An MCP server of the config: its tool is used, and there no more when somebody has switched it off. */
async function tools({ player }: Stage, talk: Talk): Promise<Turn> {
  const wish = (a: number) => player.speech.use?.(sums.tool, { a, b: 45 }) ?? ''
  complete(await talk.allowing(await talk.ask(wish(123))), '5535')
  await talk.toggle(sums.server, false)
  const turn = await talk.allowing(await talk.ask(wish(321)))
  complete(turn, 'there is no such tool')
  must(!wordsIn(turn).includes('14445'), 'it used what was switched off')
  must(handedOver(turn), 'nothing says that it begins anew')
  // That it does so here says nothing of what it remembers.
  return { ...turn, responseParts: [] }
}

/** Whether the chat says that the agent knew nothing of it any more, and was told. */
export function handedOver({ responseParts }: Turn): boolean {
  return responseParts.some(
    (part) => part.kind === 'systemNotification' && JSON.stringify(part.content).includes('transcript'),
  )
}

function complete(turn: Turn, words = ''): Turn {
  must(turn.state === 'complete', `the turn is ${turn.state}: ${errorIn(turn)}`)
  must(wordsIn(turn).includes(words), `it said ${JSON.stringify(wordsIn(turn).slice(0, 60))}`)
  return turn
}

function errorIn({ responseParts }: Turn): string {
  const part = responseParts.findLast(({ kind }) => kind === 'error')
  return part?.kind === 'error' ? part.error.message : 'no reason is given'
}

function textIn(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
