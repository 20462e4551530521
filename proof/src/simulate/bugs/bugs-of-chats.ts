import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** Bugs in forking and moving chats. */
export const chatBugs: readonly Bug[] = [
  bug(
    'a fork lacks the turn that it names',
    'parts/chat/copy-turns',
    'indexOf(turnId) + 1',
    'indexOf(turnId)',
  ),
  bug(
    'a fork is written from its first turn on',
    'parts/chat/copy-turns',
    'copy.pages(ids.toReversed())',
    'copy.pages(ids)',
  ),
  bug(
    'the rows of a fork are not written',
    'parts/chat/copy-turns',
    'await copy.write({ rows:',
    'void ({ rows:',
  ),
  bug('a fork is visible while it is created', 'kernel/log/awake-channels', ' || this.staged.has(uri)', ''),
  bug('a half-created chat survives a restart', 'parts/session/recovery', 'await forgetCopies(core);', ''),
  bug(
    'a fork is published before it is in its session',
    'parts/chat/new-chat',
    'publishCopy(core, copied);',
    'setTimeout(() => publishCopy(core, copied));',
  ),
  bug(
    'a moved chat stays in its old session',
    'parts/session/move-chat',
    "append(core, from, { type: 'session/chatRemoved', chat })",
    '',
  ),
  bug('the chat index does not follow a move', 'catalog/chat-index', 'this.add(chat, session);', ''),
  bug(
    'a session that received a chat is not announced',
    'parts/session/move-chat',
    'announce(core, target)',
    '{}',
  ),
  bug('a chat moves during a turn', 'parts/chat/movable', 'if (chat.activeTurn)', 'if (false)'),
  bug(
    'a chat moves in two steps',
    'parts/session/move-chat',
    'const commits = chats.map',
    'core.log.settled(); const commits = chats.map',
  ),
  bug(
    'terminals stay behind when their chat moves',
    'parts/session/move-chat',
    'moveTerminal(core, terminal, target.uri, summary.resource)',
    '{}',
  ),
]
