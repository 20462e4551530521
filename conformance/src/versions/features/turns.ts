import { check, same } from '../../kit/check.ts'
import { promptText } from '../../kit/conversation.ts'
import { activeTurnIn, turnsIn } from '../reading.ts'
import type { SeenTurn } from '../reading.ts'
import type { Feature, Member, Scene } from '../scene.ts'
import { held } from './held-turn.ts'

export function endedTurn({ version, view }: Member, turnId: string): SeenTurn | undefined {
  return turnsIn(version, view.talk()).find(({ id }) => id === turnId)
}

/** Waits until every client sees the end of a turn, and checks that all of them have read the same. */
export async function allSeeEnd(scene: Scene, actor: Member, turnId: string): Promise<SeenTurn> {
  const { turnTimeoutMs: timeoutMs } = scene
  await scene.all(actor, `the turn to end`, (member) => endedTurn(member, turnId), { timeoutMs })
  const others = scene.watchers(actor)
  const readers = scene.members.filter((member) => member === actor || others.includes(member))
  const seen = readers.map((member) => endedTurn(member, turnId))
  for (const key of ['text', 'state', 'answer'] as const) {
    const agreed = mostFrequent(seen.map((turn) => turn?.[key]))
    await scene.each(actor, (member) =>
      same(`the ${key} of the turn`, agreed, endedTurn(member, turnId)?.[key]),
    )
  }
  const ended = endedTurn(actor, turnId)
  check(ended !== undefined, 'the ended turn', ended)
  return ended
}

/** The value that most clients have read. In a tie, the last of the values wins, which is from the newest version. */
function mostFrequent<T>(values: readonly T[]): T | undefined {
  const count = (value: T) => values.filter((each) => each === value).length
  return values.toSorted((a, b) => count(a) - count(b)).at(-1)
}

export const prompt: Feature = {
  name: 'prompt',
  async run(scene, actor) {
    const turnId = await scene.startTurn(actor, promptText)
    const { text } = await allSeeEnd(scene, actor, turnId)
    same('the text of the message', promptText, text)
  },
}

export const cancel: Feature = {
  name: 'cancel',
  async run(scene, actor) {
    const turnId = await held(scene, scene.another(actor), actor)
    await scene.cancel(actor, turnId)
    const { state } = await allSeeEnd(scene, actor, turnId)
    same('the state of the turn', 'cancelled', state)
  },
}

export const truncate: Feature = {
  name: 'truncate',
  async run(scene, actor) {
    const [first] = turnsIn(actor.version, actor.view.talk())
    check(first !== undefined, 'a turn in the session', first)
    await allSeeEnd(scene, actor, await scene.startTurn(actor, promptText))
    await actor.view.say('truncated', { turnId: first.id })
    await scene.all(actor, 'the turns after the first one to be gone', ({ version, view }) => {
      const turns = turnsIn(version, view.talk())
      return turns.length === 1 && turns[0]?.id === first.id && !activeTurnIn(version, view.talk())
    })
  },
}
