import type { Uri } from '@atrium/protocol/channel'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import { errorCodes } from '@atrium/protocol/errors'
import { Skipped, check } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { resultOf } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { openConversation } from '../kit/conversation.ts'

export const completions: Topic = {
  name: 'completions',
  rules: [
    {
      id: 'K160',
      title: 'a completion trigger is answered with items that match their schema',
      source: 'completions: the fields of an item; initialize announces the triggers',
      async run(kit) {
        const { client, chat, triggers } = await chatWithTriggers(kit)
        for (const text of triggers) await itemsOf(client, chat, text)
      },
    },
    {
      id: 'K161',
      title: 'the range that a completion replaces lies inside the text',
      source: 'completions: rangeStart and rangeEnd are offsets in the text, in UTF-16 units',
      async run(kit) {
        const { client, chat, triggers } = await chatWithTriggers(kit)
        let seen = 0
        // An emoji has two UTF-16 units and four bytes, so a host that counts bytes fails.
        for (const prefix of ['', '😀😀 '])
          for (const trigger of triggers) {
            const text = `${prefix}${trigger}`
            for (const item of await itemsOf(client, chat, text)) {
              const { rangeStart = 0, rangeEnd = text.length } = item
              const inside = rangeStart <= rangeEnd && rangeEnd <= text.length
              check(inside, `a range within the ${text.length} units of ${text}`, item)
              seen++
            }
          }
        if (seen === 0) throw new Skipped('the host completes nothing in a new session')
      },
    },
    {
      id: 'K162',
      title: 'completions in a chat that does not exist are refused',
      source: 'errors: NotFound, or SessionNotFound for a session',
      recommended: true,
      async run(kit) {
        const { client, triggers } = await chatWithTriggers(kit)
        const [text = ''] = triggers
        const { NotFound, SessionNotFound, InvalidParams } = errorCodes
        const channel = kit.unusedChat(kit.unusedUri())
        await client.mustFail(
          'completions',
          completionParams(channel, text),
          NotFound,
          SessionNotFound,
          InvalidParams,
        )
      },
    },
  ],
}

/** A chat, and the trigger characters that the host announces. */
async function chatWithTriggers(
  kit: Kit,
): Promise<{ client: Client; chat: Uri; triggers: readonly string[] }> {
  const opened = await (await kit.connect()).initialize()
  const { completionTriggerCharacters: triggers = [] } = opened
  if (triggers.length === 0) throw new Skipped('the host announces no completionTriggerCharacters')
  const { client, chat } = await openConversation(kit)
  return { client, chat, triggers }
}

function completionParams(channel: Uri, text: string): object {
  return { channel, kind: 'userMessage', text, offset: text.length }
}

async function itemsOf(client: Client, chat: Uri, text: string): Promise<readonly CompletionItem[]> {
  return resultOf('completions', await client.request('completions', completionParams(chat, text))).items
}
