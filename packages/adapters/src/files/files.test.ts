import { filesContract } from '../../../host/src/ports/files.contract.ts'
import { sandbox } from '../../test/sandbox.ts'

filesContract('node', async () => sandbox())
