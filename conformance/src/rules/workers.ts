import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSummary, ChatToolOrigin } from '@atrium/protocol/chat/state'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'
import { callsIn } from '../kit/waiting.ts'

/** Chats that an agent begins by a tool. */
export const workers: Topic = {
  name: 'workers',
  rules: [
    {
      id: 'K220',
      title: 'a chat that a tool began and the call of that tool name each other',
      source: 'chats: the origin of a chat and the subagent block of the call that began it agree',
      needs: 'session',
      async run(kit) {
        const { workerPrompt } = kit.offer
        if (workerPrompt === undefined)
          throw new Skipped('no --worker-prompt says what makes a tool of the agent begin a chat')
        const talk = await talkOf(kit)
        await talk.ended(await talk.begin(workerPrompt))
        await talk.client.retitle(talk.session)
        const [begun, shown] = [begunIn(talk), shownIn(talk)]
        if (begun.length + shown.length === 0)
          throw new Skipped(`no chat was begun when the agent was told ${JSON.stringify(workerPrompt)}`)
        for (const { resource, origin } of begun)
          check(
            shown.some((block) => block.resource === resource && block.toolCallId === origin.toolCallId),
            `${resource} in the call ${origin.toolCallId}`,
            shown,
          )
        for (const { resource, toolCallId } of shown) {
          const origin = begun.find((chat) => chat.resource === resource)?.origin
          same(`the call that ${resource} came from`, toolCallId, origin?.toolCallId)
        }
      },
    },
  ],
}

interface Begun {
  readonly resource: Uri
  readonly origin: ChatToolOrigin
}

/** Those of the chat's own calls; it may be that they have gone by now. */
function begunIn(talk: Talk): readonly Begun[] {
  return talk.client.envelopes.flatMap(({ action }) => {
    if (action.type !== 'session/chatAdded') return []
    const { resource, origin } = (action as Action & { summary: ChatSummary }).summary
    return origin?.kind === 'tool' && origin.chat === talk.chat ? [{ resource, origin }] : []
  })
}

function shownIn(talk: Talk): readonly { readonly resource: Uri; readonly toolCallId: string }[] {
  return callsIn(talk.state()).flatMap((call) =>
    ('content' in call ? (call.content ?? []) : []).flatMap((block) =>
      block.type === 'subagent' ? [{ resource: block.resource, toolCallId: call.toolCallId }] : [],
    ),
  )
}
