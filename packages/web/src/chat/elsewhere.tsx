import type { SessionState } from '@atrium/protocol/session/state'
import { CircleHelp } from 'lucide'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'

interface Props {
  readonly session: SessionState
  readonly chat: string
  readonly onOpen: (chat: string) => void
}

/** Questions in other chats of the session, above all of workers, which nobody would see otherwise. */
export function QuestionsElsewhere({ session, chat, onOpen }: Props) {
  const others = (session.inputNeeded ?? []).filter(
    (request) => request.chat !== chat && request.kind !== 'toolClientExecution',
  )
  const [first] = others
  if (!first) return null
  return (
    <p class="elsewhere">
      <Icon of={CircleHelp} />
      <span>
        {others.length === 1
          ? 'A question waits in another chat.'
          : `${others.length} questions wait in other chats.`}
      </span>
      <Button onClick={() => onOpen(first.chat)}>Show it</Button>
    </p>
  )
}
