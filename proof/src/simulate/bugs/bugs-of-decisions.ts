import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in decisions about tool calls, and in their effects. */
export const decisionBugs: readonly Bug[] = [
  bug(
    'a tool runs while its approval is pending',
    'parts/tools/approval',
    "if (call?.status !== 'running')",
    'if (!call)',
  ),
  bug(
    'an agent approves its own call',
    'parts/tools/approval',
    "{ ...open, confirmed: 'not-needed' }",
    'open',
  ),
  bug(
    'an agent sends decisions of users',
    'parts/turn/agent-output',
    'const forged = forgery(parsed.action);',
    'const forged = undefined;',
  ),
  bug(
    'a call is answered twice',
    'parts/chat/guards',
    "if (call.status !== 'pending-confirmation')",
    'if (false)',
  ),
  bug(
    'a removed permission still applies',
    'parts/tools/approval',
    'return permissionFor(tool, session.head.config?.values, root?.config?.values, covered);',
    'return permissionFor(tool, session.committed.config?.values, core.log.channel(rootUri).committed.config?.values, covered);',
  ),
  bug(
    'a permission for one folder applies everywhere',
    'parts/access/tool-permissions',
    ' && each.folder === folder',
    '',
  ),
  bug(
    'a permission is written in a later step',
    'parts/session/follow-ups',
    'savePermission({ core, session, chat }, action, by.clientId);',
    'core.world.later(0, () => savePermission({ core, session, chat }, action, by.clientId));',
  ),
  bug(
    'an answer does not name its client',
    'parts/tools/call-meta',
    'decided ? withDecision(meta, decided, decision) : meta',
    'meta',
  ),
  bug(
    'a call does not name the permission that allowed it',
    'parts/tools/approval',
    "withDecision(action._meta ?? call._meta ?? {}, 'decidedBy', { permission })",
    'action._meta ?? {}',
  ),
  bug(
    'a call that asks again names the client of the last answer',
    'parts/tools/approval',
    'const open = undecided(given, call);',
    'const open = given;',
  ),
  bug('a permission covers protected files', 'parts/tools/approval', '!files.some(isProtected) &&', ''),
  bug(
    'a pending approval does not survive a restart',
    'parts/changes/waiting/open-requests',
    "new Set(['pending-confirmation', ",
    'new Set([',
  ),
  bug(
    'a call approved after a restart is not carried out',
    'parts/session/recovery',
    "'chat/toolCallConfirmed': answered,",
    '',
  ),
  bug(
    'a shell starts for a turn that has ended',
    'parts/terminal/execute',
    "signal.addEventListener('abort', stop, { once: true });",
    '',
  ),
  bug(
    'a terminal is created for a turn that has ended',
    'parts/turn/agent-chat',
    'requireRunning(turn);\n    const caller',
    'const caller',
  ),
  bug(
    'a call waits for a client tool that was removed',
    'parts/session/follow-ups',
    'failCallsOf(core, session, clientId);',
    ';',
  ),
  bug(
    'an agent calls a tool that the client does not have',
    'parts/session/follow-ups',
    'checkClientOffers({ core, session, chat }, action);',
    ';',
  ),
  bug(
    'any client reports on a client tool',
    'parts/chat/guards',
    ' || contributor.clientId !== by.clientId',
    '',
  ),
  bug(
    'a session does not show a pending result confirmation',
    'parts/session/input-needed',
    " || toolCall.status === 'pending-result-confirmation'",
    '',
  ),
]
