import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSummary, ChatToolOrigin } from '@atrium/protocol/chat/state'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { openConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'
import { callsIn } from '../kit/pending-input.ts'

/** Chats that an agent starts by a tool. */
export const workers: Topic = {
  name: 'workers',
  rules: [
    {
      id: 'K220',
      title: 'a chat started by a tool and the call of that tool name each other',
      source: 'chats: the origin of a chat and the subagent block of its tool call agree',
      async run(kit) {
        const { workerPrompt } = kit.options
        if (workerPrompt === undefined)
          throw new Skipped('no --worker-prompt says how to make a tool of the agent start a chat')
        const conversation = await openConversation(kit)
        await conversation.turnEnd(await conversation.beginTurn(workerPrompt))
        await conversation.client.retitle(conversation.session)
        const [started, blocks] = [startedIn(conversation), subagentBlocksIn(conversation)]
        if (started.length + blocks.length === 0)
          throw new Skipped(`no chat was started after the prompt ${JSON.stringify(workerPrompt)}`)
        for (const { resource, origin } of started)
          check(
            blocks.some((block) => block.resource === resource && block.toolCallId === origin.toolCallId),
            `${resource} in the call ${origin.toolCallId}`,
            blocks,
          )
        for (const { resource, toolCallId } of blocks) {
          const origin = started.find((chat) => chat.resource === resource)?.origin
          same(`the call that ${resource} came from`, toolCallId, origin?.toolCallId)
        }
      },
    },
  ],
}

interface StartedChat {
  readonly resource: Uri
  readonly origin: ChatToolOrigin
}

/** The chats that tool calls of this chat have started, including those that were removed later. */
function startedIn(conversation: Conversation): readonly StartedChat[] {
  return conversation.client.envelopes.flatMap(({ action }) => {
    if (action.type !== 'session/chatAdded') return []
    const { resource, origin } = (action as Action & { summary: ChatSummary }).summary
    return origin?.kind === 'tool' && origin.chat === conversation.chat ? [{ resource, origin }] : []
  })
}

function subagentBlocksIn(
  conversation: Conversation,
): readonly { readonly resource: Uri; readonly toolCallId: string }[] {
  return callsIn(conversation.state()).flatMap((call) =>
    ('content' in call ? (call.content ?? []) : []).flatMap((block) =>
      block.type === 'subagent' ? [{ resource: block.resource, toolCallId: call.toolCallId }] : [],
    ),
  )
}
