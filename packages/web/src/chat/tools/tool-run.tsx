import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { ListChecks } from 'lucide'
import { useState } from 'preact/hooks'
import { Icon } from '../../ui/icon.tsx'
import { callWords } from './call-groups.ts'
import { ToolCard } from './tool-card.tsx'

interface Props {
  readonly turnId: string
  readonly calls: readonly ToolCallState[]
}

/** Finished tool calls in a row, as one line that opens. */
export function ToolRun({ turnId, calls }: Props) {
  const [open, setOpen] = useState(false)
  const failed = calls.filter((call) => call.status === 'completed' && !call.success).length
  const denied = calls.filter(({ status }) => status === 'cancelled').length
  return (
    <details class="tool-run" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="tool-head">
        <span class="tool-icon quiet">
          <Icon of={ListChecks} />
        </span>
        <span class="tool-title">{callWords(calls)}</span>
        {failed > 0 && <span class="tool-state bad">{failed} failed</span>}
        {denied > 0 && <span class="tool-state quiet">{denied} not run</span>}
      </summary>
      {open &&
        calls.map((call) => <ToolCard key={call.toolCallId} turnId={turnId} call={call} opened={false} />)}
    </details>
  )
}
