import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** What could go wrong with chats that begin from others, and with those that move. */
export const chatBugs: readonly Bug[] = [
  bug('a fork lacks the turn that it names', 'copy', 'indexOf(turnId) + 1', 'indexOf(turnId)'),
  bug(
    'a fork is laid down from its beginning',
    'copy',
    'copying.pages(ids.toReversed())',
    'copying.pages(ids)',
  ),
  bug('the rows of a fork are forgotten', 'copy', 'await copying.lay({ rows:', 'void ({ rows:'),
  bug('a fork is found while it is made', 'log', ' || this.hidden.has(uri)', ''),
  bug('what was left half made stays', 'unfinished', 'await forgetCopies(core);', ''),
  bug(
    'a fork is shown before it is in its session',
    'chat',
    'showCopy(core, copied);',
    'setTimeout(() => showCopy(core, copied));',
  ),
  bug(
    'its old session keeps a chat that has moved',
    'move',
    "append(core, from, { type: 'session/chatRemoved', chat })",
    '',
  ),
  bug('the index does not follow a move', 'homes', 'this.settle(chat, session);', ''),
  bug('a session that got a chat is not announced', 'move', 'announce(core, target)', '{}'),
  bug('a chat moves in the midst of a turn', 'movable', 'if (chat.activeTurn)', 'if (false)'),
  bug(
    'a chat moves in two steps',
    'move',
    'const arrived = chats.map',
    'core.log.settled(); const arrived = chats.map',
  ),
  bug(
    'terminals stay when their chat goes',
    'move',
    'hand(core, terminal, target.uri, summary.resource)',
    '{}',
  ),
]
