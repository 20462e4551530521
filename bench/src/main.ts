import { agentBench } from './agent.ts'
import { changesBench } from './changes/changes.ts'
import { clusterBench } from './cluster/cluster.ts'
import { diskBench } from './disk/disk.ts'
import { fairBench } from './fair/fair.ts'
import { firstAnswerBench } from './first-answer/first-answer.ts'
import { hostBench } from './host.ts'
import { loadBench } from './load.ts'
import { memoryBench } from './memory.ts'
import { clientBench } from './reconcile.ts'
import { reducersBench } from './reducers.ts'
import { searchBench } from './search/search.ts'
import { startBench } from './start.ts'
import { toolsBench } from './tools/tools.ts'
import { turnBench } from './turn.ts'
import { versionsBench } from './versions/versions.ts'
import { webBench } from './web/web.ts'
import { workspaceBench } from './workspace.ts'

/**
 * Each bench prints the ratios that it measured in one run, and returns whether its goals were met. `wanted` names
 * the parts of the bench to run; if it is empty, all parts run.
 */
const benches: {
  readonly [name: string]: (wanted: readonly string[]) => boolean | Promise<boolean>
} = {
  reducers: reducersBench,
  host: hostBench,
  load: loadBench,
  fair: fairBench,
  turn: turnBench,
  workspace: workspaceBench,
  client: clientBench,
  agent: agentBench,
  start: startBench,
  'first-answer': firstAnswerBench,
  tools: toolsBench,
  disk: diskBench,
  changes: changesBench,
  memory: memoryBench,
  search: searchBench,
  versions: versionsBench,
  web: webBench,
  cluster: clusterBench,
}

const [name, ...wanted] = process.argv.slice(2)
const bench = new Map(Object.entries(benches)).get(name ?? '')
if (bench) {
  console.log(`Node ${process.version}, ${process.arch}`)
  if (!(await bench(wanted))) process.exitCode = 1
} else {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(benches).join(' | ')}\n`)
  process.exitCode = name === undefined ? 0 : 2
}
