import type { Client } from '@atrium/client/client'
import type { CanvasRef } from '@atrium/protocol/chat/state'
import { Globe } from 'lucide'
import { useLiveChannel } from '../link/live-channel.ts'
import { safeLink } from '../markdown/safe-link.ts'
import { Icon } from '../ui/icon.tsx'
import { isReached } from './reached.ts'
import { visibleText } from './shared/text.ts'

interface Props {
  readonly client: Client
  readonly canvases: readonly CanvasRef[] | undefined
}

/** Shows the servers that commands of a chat's tools have started. Each is a canvas of the chat. */
export function Servers({ client, canvases = [] }: Props) {
  if (canvases.length === 0) return null
  return (
    <ul class="servers" aria-label="Servers">
      {canvases.map(({ resource }) => (
        <Server key={resource} client={client} resource={resource} />
      ))}
    </ul>
  )
}

function Server({ client, resource }: { readonly client: Client; readonly resource: string }) {
  const { state } = useLiveChannel(client, 'canvas', resource)
  if (!state) return null
  const { title = state.canvasId, status, url = '' } = state
  const link = safeLink(url)
  return (
    <li class="server">
      <Icon of={Globe} />
      <span class="server-title">{visibleText(title)}</span>
      {status !== undefined && <span class="tag">{visibleText(status)}</span>}
      {link !== undefined &&
        (isReached(link, location.hostname) ? (
          <a href={link} target="_blank" rel="noopener noreferrer">
            {visibleText(link)}
          </a>
        ) : (
          <span class="quiet">{visibleText(link)}, on the machine of the host</span>
        ))}
    </li>
  )
}
