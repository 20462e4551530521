import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { member, textMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'

/** Who decided about a tool call, as in "allowed by Chrome on Linux (owner)". Undefined if no host has recorded it. */
export function decisionAbout(call: ToolCallState): string | undefined {
  return wordsOf(member(member(call._meta, 'x-atrium'), 'decidedBy'))
}

/** Who decided about the result of a tool call. */
export function resultDecisionAbout(call: ToolCallState): string | undefined {
  const words = wordsOf(member(member(call._meta, 'x-atrium'), 'resultDecidedBy'))
  return words === undefined ? undefined : `result ${words}`
}

function wordsOf(decided: unknown): string | undefined {
  const permission = member(decided, 'permission')
  if (permission !== undefined) {
    const folder = textMember(permission, 'folder')
    return `allowed by a permission for ${folder === undefined ? 'this session' : visibleText(folder.replace(/^file:\/\//, ''))}`
  }
  const principal = textMember(decided, 'principal')
  if (principal === undefined) return undefined
  const client = member(decided, 'client')
  const name =
    textMember(client, 'title') ??
    textMember(client, 'name') ??
    `client ${textMember(decided, 'clientId')?.slice(0, 8) ?? ''}`
  const verb = member(decided, 'approved') === true ? 'allowed' : 'denied'
  return `${verb} by ${visibleText(name)} (${visibleText(principal)})`
}
