import { randomUUID } from 'node:crypto'
import { promptText } from '../../kit/conversation.ts'
import { messageIn, queueIn, steeringIn, turnsIn } from '../reading.ts'
import type { Feature, Member, Scene } from '../scene.ts'
import { held, release } from './held-turn.ts'
import { allSeeEnd } from './turns.ts'

export const queue: Feature = {
  name: 'queue',
  async run(scene, actor) {
    const turnId = await held(scene, scene.another(actor), actor)
    const [first, second] = [randomUUID(), randomUUID()]
    const { view } = actor
    for (const id of [first, second])
      await view.say('pendingMessageSet', { kind: 'queued', id, ...view.message(textFor(id)) })
    await allSeeQueue(scene, actor, first, second)
    await view.say('queuedMessagesReordered', { order: [second, first] })
    await allSeeQueue(scene, actor, second, first)
    await view.say('pendingMessageRemoved', { kind: 'queued', id: second })
    await allSeeQueue(scene, actor, first)
    // A host may leave the queue alone after a cancelled turn, so this turn ends by itself.
    await release(scene, actor, turnId)
    await allSeeEnd(scene, actor, turnId)
    await run(scene, actor, first)
  },
}

function textFor(id: string): string {
  return `${promptText} (${id})`
}

function allSeeQueue(scene: Scene, actor: Member, ...ids: readonly string[]): Promise<void> {
  const expected = JSON.stringify(ids.map((id) => ({ id, text: textFor(id) })))
  return scene.all(
    actor,
    `${ids.length} queued messages in their order`,
    ({ version, view }) => JSON.stringify(queueIn(version, view.talk())) === expected,
  )
}

/**
 * Waits until the host takes the queued message. If the host does not, removes the message. If the host starts a turn
 * with it, waits until every client sees the end of that turn.
 */
async function run(scene: Scene, actor: Member, id: string): Promise<void> {
  const { speaker, version, view } = actor
  const gone = ({ version: seenAt, view: seenBy }: Member) => queueIn(seenAt, seenBy.talk()).length === 0
  await speaker
    .until('the queued message to be taken', () => gone(actor) || undefined, scene.turnTimeoutMs)
    .catch(() => view.say('pendingMessageRemoved', { kind: 'queued', id }))
  await scene.all(actor, 'the queue to be empty', gone)
  const started = view.heard('turnStarted').find((action) => messageIn(version, action) === textFor(id))
  if (typeof started?.['turnId'] === 'string') await allSeeEnd(scene, actor, started['turnId'])
}

export const steer: Feature = {
  name: 'steer',
  async run(scene, actor) {
    const turnId = await held(scene, scene.another(actor), actor)
    const id = randomUUID()
    const { view } = actor
    await view.say('pendingMessageSet', { kind: 'steering', id, ...view.message(textFor(id)) })
    // A host may take the message out of the state at any time, so the check looks for the action, not at the state.
    await scene.all(actor, 'the steering message', ({ version, view: seen }) =>
      seen
        .heard('pendingMessageSet')
        .some((action) => action['id'] === id && messageIn(version, action) === textFor(id)),
    )
    if (steeringIn(actor.version, view.talk())?.id === id)
      await view.say('pendingMessageRemoved', { kind: 'steering', id })
    await scene.all(actor, 'the steering message to be gone', ({ version, view: seen }) => {
      return steeringIn(version, seen.talk()) === undefined
    })
    if (!turnsIn(actor.version, view.talk()).some((turn) => turn.id === turnId))
      await scene.cancel(actor, turnId)
    await allSeeEnd(scene, actor, turnId)
  },
}
