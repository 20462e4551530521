import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** What could go wrong with chats that begin from others, and with those that move. */
export const chatBugs: readonly Bug[] = [
  bug('a fork lacks the turn that it names', 'chat/copy-turns', 'indexOf(turnId) + 1', 'indexOf(turnId)'),
  bug(
    'a fork is laid down from its beginning',
    'chat/copy-turns',
    'copying.pages(ids.toReversed())',
    'copying.pages(ids)',
  ),
  bug('the rows of a fork are forgotten', 'chat/copy-turns', 'await copying.lay({ rows:', 'void ({ rows:'),
  bug('a fork is found while it is made', 'log/log', ' || this.staged.has(uri)', ''),
  bug('what was left half made stays', 'recovery', 'await forgetCopies(core);', ''),
  bug(
    'a fork is shown before it is in its session',
    'chat/chat',
    'publishCopy(core, copied);',
    'setTimeout(() => publishCopy(core, copied));',
  ),
  bug(
    'its old session keeps a chat that has moved',
    'session/move-chat',
    "append(core, from, { type: 'session/chatRemoved', chat })",
    '',
  ),
  bug('the index does not follow a move', 'core/chat-index', 'this.add(chat, session);', ''),
  bug('a session that got a chat is not announced', 'session/move-chat', 'announce(core, target)', '{}'),
  bug('a chat moves in the midst of a turn', 'chat/movable', 'if (chat.activeTurn)', 'if (false)'),
  bug(
    'a chat moves in two steps',
    'session/move-chat',
    'const arrived = chats.map',
    'core.log.settled(); const arrived = chats.map',
  ),
  bug(
    'terminals stay when their chat goes',
    'session/move-chat',
    'hand(core, terminal, target.uri, summary.resource)',
    '{}',
  ),
]
