import type { Client } from '@atrium/client/client'
import { useLink } from '@atrium/client/react'
import { linkWords } from './link-words.ts'

interface Props {
  readonly client: Client
  /** Whether only the dot is shown while the link is live. */
  readonly brief?: boolean
}

/** The state of the link. It is always on the screen. */
export function LinkState({ client, brief = false }: Props) {
  const status = useLink(client)
  const { tone, text, detail } = linkWords(status, client.pending.length)
  return (
    <span class={`link ${tone}`} role="status" title={detail}>
      <span class="dot" aria-hidden="true" />
      <span class={brief && tone === 'live' ? 'hidden' : ''}>{text}</span>
    </span>
  )
}
