import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** What could go wrong with what people decide, and with what is done because of it. */
export const decisionBugs: readonly Bug[] = [
  bug('a tool runs while it is asked for', 'tools/approval', "if (call?.status !== 'running')", 'if (!call)'),
  bug('an agent approves its own call', 'tools/approval', "{ ...ready, confirmed: 'not-needed' }", 'ready'),
  bug(
    'an agent says what people say',
    'turn/agent-output',
    'const forged = forgery(checked.value);',
    'const forged = undefined;',
  ),
  bug('a call is answered twice', 'chat/guards', "if (call.status !== 'pending-confirmation')", 'if (false)'),
  bug(
    'a rule allows after it was taken back',
    'tools/approval',
    'return allows(tool, session.head.config?.values, root?.config?.values, there);',
    'return allows(tool, session.committed.config?.values, core.log.channel(rootUri).committed.config?.values, there);',
  ),
  bug('a rule allows in every folder', 'access/permissions', ' && each.folder === folder', ''),
  bug(
    'a rule is written in a later step',
    'dispatch/follow-ups',
    'savePermission(core, session, chat, action, by.clientId);',
    'core.world.later(0, () => savePermission(core, session, chat, action, by.clientId));',
  ),
  bug('a rule covers what is protected', 'tools/approval', '!files.some(isProtected) &&', ''),
  bug(
    'an approval does not wait over a restart',
    'recovery',
    "new Set(['pending-confirmation', ",
    'new Set([',
  ),
  bug(
    'nobody goes on with what was approved after a restart',
    'recovery',
    "'chat/toolCallConfirmed': answered,",
    '',
  ),
  bug(
    'a shell starts for a turn that has ended',
    'terminal/execute',
    "signal.addEventListener('abort', stop, { once: true });",
    '',
  ),
  bug(
    'a tool that was taken back is waited for',
    'dispatch/follow-ups',
    'failCallsOf(core, session, clientId);',
    ';',
  ),
  bug('anybody says what a lent tool did', 'chat/guards', ' || contributor.clientId !== by.clientId', ''),
  bug(
    'a session does not show that a result is looked at',
    'session/input-needed',
    " || toolCall.status === 'pending-result-confirmation'",
    '',
  ),
]
