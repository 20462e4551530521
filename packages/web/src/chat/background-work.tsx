import type { Client } from '@atrium/client/client'
import type { BackgroundWork } from '@atrium/protocol/chat/state'
import { SquareTerminal } from 'lucide'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { visibleText } from './shared/text.ts'

interface Props {
  readonly client: Client
  readonly work: readonly BackgroundWork[] | undefined
  readonly say: (text: string) => void
}

/** What runs on in a chat after its turns. Whoever owns the host ends a command here. */
export function WorkInBackground({ client, work = [], say }: Props) {
  const owns = useMay('own')
  if (work.length === 0) return null
  const end = (channel: string) =>
    void client
      .ask('disposeTerminal', { channel })
      .catch((error: unknown) => say(failureWords(failedRequest(error), 'It still runs', 'it was ended')))
  return (
    <ul class="servers" aria-label="Work in the background">
      {work.map((each) => {
        const terminal = each.kind === 'shell' ? each.terminal : undefined
        const title = visibleText(each.label)
        return (
          <li key={each.id} class="server">
            <Icon of={SquareTerminal} />
            <span class="server-title">{title}</span>
            <span class="tag">in the background</span>
            {owns && terminal !== undefined && (
              <Button look="quiet" title={`End ${title}`} onClick={() => end(terminal)}>
                End
              </Button>
            )}
          </li>
        )
      })}
    </ul>
  )
}
