import { terminalsContract } from '../../../host/src/ports/contracts/terminals.contract.ts'
import { homeWith } from '../../test/shells.ts'
import { ptyTerminals } from './terminals.ts'

terminalsContract('pty', async () => {
  const { home, env } = homeWith()
  return {
    terminals: ptyTerminals({ shell: '/bin/bash', env }),
    cwd: home,
    lines: {
      say: (text) => `echo '${text}'`,
      count: (to) => `seq 1 ${to}`,
      read: 'read line; echo "got $line"',
      size: 'trap "stty size" WINCH; stty size; until read -t 0.2 line; do :; done',
      cwd: 'pwd',
      exit: (code) => `exit ${code}`,
    },
  }
})
