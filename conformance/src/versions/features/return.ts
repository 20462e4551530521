import { randomUUID } from 'node:crypto'
import { knows } from '@atrium/protocol/versions/known'
import { shapeOf, textOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { check, excerpt, Failed, same } from '../../kit/check.ts'
import { promptText } from '../../kit/conversation.ts'
import { sameView } from '../comparison.ts'
import { turnsIn } from '../reading.ts'
import { seesTitle } from '../scene.ts'
import type { Feature, Member, Scene } from '../scene.ts'
import { View } from '../view.ts'
import { held } from './held-turn.ts'
import { endedTurn } from './turns.ts'

/** A client is cut off, misses a turn and a new title, and comes back. */
export const comeBack: Feature = {
  name: 'reconnect',
  async run(scene, actor) {
    const other = scene.another(actor)
    const { speaker: earlier } = actor
    earlier.terminate()
    await earlier.until('the link to end', () => earlier.closed).catch(() => {})
    const turnId = other === actor ? undefined : await missedTurn(scene, other)
    const title = other === actor ? undefined : await scene.rename(other)
    const speaker = await scene.connectAgain(actor)
    const result = await speaker.reconnect(earlier, actor.view.channels)
    const view = View.resumed(speaker, actor.view, result)
    Object.assign(actor, { speaker, view })
    if (title === undefined || turnId === undefined) return
    await speaker.until('what was missed', () => seesTitle(title)(actor) || undefined)
    const missed = turnsIn(actor.version, view.talk()).find(({ id }) => id === turnId)
    same('the answer of the missed turn', endedTurn(other, turnId)?.answer, missed?.answer)
  },
}

async function missedTurn(scene: Scene, member: Member): Promise<string> {
  const turnId = await scene.startTurn(member, promptText)
  await member.speaker.until('the turn to end', () => endedTurn(member, turnId), scene.turnTimeoutMs)
  return turnId
}

/**
 * The state that a client has folded from the beginning equals the state that a new client of its version gets. The states are
 * compared at rest, and also with a message in the queue while the agent waits for each kind of answer.
 */
export const sameState: Feature = {
  name: 'same state',
  async run(scene, actor) {
    await compareWithFresh(scene, actor)
    const { formPrompt, toolPrompt } = scene.options
    for (const asking of [formPrompt, toolPrompt]) {
      if (asking === undefined) continue
      const turnId = await held(scene, scene.another(actor), actor, asking)
      const queued = { kind: 'queued', id: randomUUID() }
      await actor.view.say('pendingMessageSet', { ...queued, ...actor.view.message(promptText) })
      await compareWithFresh(scene, actor)
      await actor.view.say('pendingMessageRemoved', queued)
      await scene.cancel(actor, turnId)
      await actor.speaker.until('the turn to end', () => endedTurn(actor, turnId), scene.turnTimeoutMs)
    }
  },
}

async function compareWithFresh(scene: Scene, actor: Member): Promise<void> {
  const fresh = await scene.fresh(actor)
  try {
    // The new title has a higher number than the snapshots. Once it is here, the client has received everything that they
    // contain.
    const title = await scene.rename(actor)
    await scene.all(actor, `the title "${title}"`, seesTitle(title))
    for (const uri of fresh.channels) {
      const { state, fromSeq } = fresh.start(uri)
      const kind = uri === fresh.session ? 'session' : 'chat'
      sameView(actor.version, kind, actor.view.stateAt(uri, fromSeq), state)
    }
  } finally {
    fresh.speaker.terminate()
  }
}

/** Tells whether a name belongs to an extension: it begins with `x-`, or has `x-` after a slash. */
function isExtension(name: string): boolean {
  return /(?:^|\/)x-/.test(name)
}

/** Everything that a client was sent belongs to its version: names, envelopes, the form of states. */
export const ownDialect: Feature = {
  name: 'own dialect',
  async run(scene, actor) {
    const { speaker, version, view } = actor
    for (const { method } of speaker.notifications)
      check(knows(version, method) || isExtension(method), `a notification of ${version}`, method)
    for (const envelope of speaker.envelopes) {
      const { type } = envelope.action
      check(knows(version, type) || isExtension(type), `an action of ${version}`, type)
      check('channel' in envelope === speaker.has('0.2.0'), 'an envelope of its version', envelope)
      check(speaker.channelOf(envelope) !== undefined, 'an envelope that names its channel', envelope)
    }
    checkForm(actor)
    const listed = (await speaker.listSessions()).find(({ resource }) => resource === view.session)
    check(listed !== undefined, `${view.session} in the list`, listed)
    const time = speaker.has('0.5.0') ? 'string' : 'number'
    check(typeof listed['createdAt'] === time, `createdAt as a ${time}`, listed)
    const scheme = `${scene.options.provider}:`
    if (!speaker.has('0.2.0'))
      check(
        textOf(listed, 'resource')?.startsWith(scheme) === true,
        `a URI that begins with ${scheme}`,
        listed,
      )
  },
}

/** Checks the members of a session and of its conversation that tell the versions apart. */
function checkForm({ speaker, view }: Member): void {
  const session = view.state()
  const form: { readonly [key: string]: boolean } = {
    summary: !speaker.has('0.5.0'),
    title: speaker.has('0.5.0'),
    activeClients: speaker.has('0.5.0'),
    chats: speaker.has('0.4.0'),
    turns: !speaker.has('0.4.0'),
  }
  for (const [key, expected] of Object.entries(form))
    if (key in session !== expected)
      throw new Failed(
        `a session ${expected ? 'with' : 'without'} ${key}`,
        excerpt(Object.keys(session as Shape)),
      )
  const turns = turnsIn(speaker.version, view.talk())
  check(
    turns.every(({ text }) => text !== undefined),
    'turns with a message',
    shapeOf(view.talk())['turns'],
  )
}
