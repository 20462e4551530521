import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { shapeOf, textOf } from '@atrium/protocol/versions/shape'
import { Failed, Skipped, check, same } from '../../kit/check.ts'
import { promptText } from '../../kit/conversation.ts'
import { uriOf } from '../../kit/uri-form.ts'
import { chatsIn, turnsIn } from '../reading.ts'
import type { Feature, Member, Scene } from '../scene.ts'
import { View } from '../view.ts'

/** A new session, in use, with a title. Every client finds it in its list, opens it and reads its turn. */
export const create: Feature = {
  name: 'create',
  async run(scene, actor) {
    const session = await scene.create(actor)
    const view = await View.open(actor.speaker, session)
    // A host may leave a session out of its list until its first turn.
    await turnIn(scene, actor, view, await scene.startTurn(actor, promptText, view))
    const title = await scene.rename(actor, view)
    actor.own = { session, title }
    await allFind(scene, actor, title, promptText)
    await scene.each(actor, async (member) => {
      const seen = await scene.find(member, title)
      await member.speaker.until('the announcement of the new session', () =>
        member.speaker
          .listNotifications('sessionAdded')
          .find((params) => textOf(shapeOf(params['summary']), 'resource') === seen),
      )
    })
  },
}

function turnIn(scene: Scene, { version, speaker }: Member, view: View, turnId: string): Promise<unknown> {
  const ended = () => turnsIn(version, view.talk()).find(({ id }) => id === turnId)
  return speaker.until('the turn to end', ended, scene.turnTimeoutMs)
}

/** Checks that every client finds a session by its title, and that the first turn in it has this text. */
async function allFind(scene: Scene, actor: Member, title: string, text: string | undefined): Promise<void> {
  await scene.each(actor, async (member) => {
    const session = await scene.find(member, title)
    const view = await View.open(member.speaker, session)
    const [first] = turnsIn(member.version, view.talk())
    same('the text of the first turn', text, first?.text)
  })
}

export const dispose: Feature = {
  name: 'dispose',
  async run(scene, actor) {
    const { own, speaker } = actor
    if (!own) throw new Skipped('the client has no session of its own')
    const shown = new Map<Member, Uri>()
    await scene.each(actor, async (member) => void shown.set(member, await scene.find(member, own.title)))
    await speaker.ask('disposeSession', speaker.sessionParams(own.session))
    await scene.each(actor, async (member) => {
      await member.speaker.until('the announcement that the session is gone', () =>
        member.speaker
          .listNotifications('sessionRemoved')
          .find(({ session }) => session === shown.get(member)),
      )
      const items = await member.speaker.listSessions()
      check(!items.some((item) => item['title'] === own.title), 'a list without the session', own.title)
    })
  },
}

/** A session that begins with a copy of the turns of another, up to 0.8. */
export const forkSession: Feature = {
  name: 'fork: session',
  until: '0.8.0',
  async run(scene, actor) {
    const turn = forkable(scene, actor)
    const fork = { session: actor.view.session, turnId: turn.id }
    const session = await scene.create(actor, { fork })
    const view = await View.open(actor.speaker, session)
    const title = await scene.rename(actor, view)
    await allFind(scene, actor, title, turn.text)
    await actor.speaker.ask('disposeSession', actor.speaker.sessionParams(session))
  },
}

/** A chat that begins with a copy of the turns of another, since 0.4. Older versions do not see it. */
export const forkChat: Feature = {
  name: 'fork: chat',
  since: '0.4.0',
  async run(scene, actor) {
    const turn = forkable(scene, actor)
    const { view, speaker } = actor
    const chat = uriOf(scene.options.chatForm, { id: randomUUID(), session: view.session })
    const from = { chat: view.conversation, turnId: turn.id }
    const source = speaker.has('0.7.0') ? { kind: 'fork', ...from } : from
    await speaker.ask('createChat', { channel: view.session, chat, source })
    const entry = ({ view: seen }: Member) => chatsIn(seen.state()).find(({ resource }) => resource === chat)
    await scene.all(actor, 'the forked chat in the session', (member) => entry(member)?.origin === 'fork', {
      since: '0.4.0',
    })
    await scene.each(
      actor,
      async ({ speaker: reader, version }) => {
        const state = shapeOf((await reader.subscribe(chat))['state'])
        same('the text of the first turn of the fork', turn.text, turnsIn(version, state)[0]?.text)
      },
      '0.4.0',
    )
    await speaker.ask('disposeChat', { channel: chat })
    await scene.all(actor, 'the forked chat to be gone', (member) => !entry(member), { since: '0.4.0' })
  },
}

function forkable({ options }: Scene, { version, view }: Member): { id: string; text: string | undefined } {
  if (!options.forks) throw new Skipped('the agent cannot fork a chat')
  const [turn] = turnsIn(version, view.talk())
  if (!turn) throw new Failed('a turn in the session', 'no turn')
  return turn
}
