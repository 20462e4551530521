import type { Uri } from '@atrium/protocol/channel'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import { errorCodes } from '@atrium/protocol/errors'
import { Skipped, check } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { resultOf } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'

export const completions: Topic = {
  name: 'completions',
  rules: [
    {
      id: 'K160',
      title: 'what begins a word that can be completed is answered with items that have their shape',
      source: 'completions: the fields of an item; initialize announces what triggers them',
      needs: 'session',
      async run(kit) {
        const { client, chat, triggers } = await typing(kit)
        for (const text of triggers) await itemsOf(client, chat, text)
      },
    },
    {
      id: 'K161',
      title: 'the range that a completion replaces lies in the text',
      source: 'completions: rangeStart and rangeEnd are places in the text, in UTF-16 units',
      needs: 'session',
      async run(kit) {
        const { client, chat, triggers } = await typing(kit)
        let seen = 0
        // Letters of two units and four bytes: who counts bytes is found out.
        for (const before of ['', '😀😀 '])
          for (const trigger of triggers) {
            const text = `${before}${trigger}`
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
      title: 'completions in a chat that is not there are refused',
      source: 'errors: NotFound, or SessionNotFound where a session is named',
      needs: 'session',
      async run(kit) {
        const { client, triggers } = await typing(kit)
        const [text = ''] = triggers
        const { NotFound, SessionNotFound, InvalidParams } = errorCodes
        const channel = `ahp-chat:/conformance-${client.clientId}`
        await client.refused('completions', asked(channel, text), NotFound, SessionNotFound, InvalidParams)
      },
    },
  ],
}

/** A chat, and what the host says begins a word there. */
async function typing(kit: Kit): Promise<{ client: Client; chat: Uri; triggers: readonly string[] }> {
  const opened = await (await kit.open()).initialize()
  const { completionTriggerCharacters: triggers = [] } = opened
  if (triggers.length === 0) throw new Skipped('the host announces no completionTriggerCharacters')
  const { client, chat } = await talkOf(kit)
  return { client, chat, triggers }
}

function asked(channel: Uri, text: string): object {
  return { channel, kind: 'userMessage', text, offset: text.length }
}

async function itemsOf(client: Client, chat: Uri, text: string): Promise<readonly CompletionItem[]> {
  return resultOf('completions', await client.ask('completions', asked(chat, text))).items
}
