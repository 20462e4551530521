import { decisionOf } from '@atrium/host/access/decision'
import type { Decision } from '@atrium/host/access/decision'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { pathOf } from '@atrium/protocol/file-uri'
import { onOneLine } from '../terminal/output.ts'

/**
 * Who decided about a tool call, as in `allowed by editor (owner)`. Undefined if nobody did, or if the host did not
 * record it.
 */
export function decisionAbout(call: ToolCallState): string | undefined {
  return decisionWords(decisionOf(call, 'decidedBy'))
}

/** Who decided about the result of a tool call, as in `result denied by editor (owner)`. */
export function resultDecisionAbout(call: ToolCallState): string | undefined {
  const decided = decisionWords(decisionOf(call, 'resultDecidedBy'))
  return decided === undefined ? undefined : `result ${decided}`
}

/** The decisions about a call and about its result, for a list in one line. */
export function decisionsAbout(call: ToolCallState): readonly string[] {
  return [decisionAbout(call) ?? [], resultDecisionAbout(call) ?? []].flat()
}

/** A decision in words, as in `denied by editor (owner)`. */
export function decisionWords(by: Decision | undefined): string | undefined {
  if (!by) return undefined
  const allowed = 'permission' in by || by.approved
  return `${allowed ? 'allowed' : 'denied'} by ${deciderName(by)}`
}

/**
 * Returns the name of a client and its principal, or the scope of a permission. A client chooses its name itself; the principal
 * comes from the host.
 */
export function deciderName(by: Decision): string {
  if ('permission' in by) {
    const { folder } = by.permission
    if (folder === undefined) return 'a permission for this session'
    const named = pathOf(folder)
    return `a permission for ${onOneLine(named.ok ? named.path : folder)}`
  }
  const { client, clientId, principal, device } = by
  const name = onOneLine(client?.name ?? '') || `client ${onOneLine(clientId).slice(0, 8)}`
  return `${name} (${device === undefined ? onOneLine(principal) : `device ${onOneLine(device)}`})`
}
