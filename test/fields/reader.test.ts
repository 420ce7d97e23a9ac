// SPDX-License-Identifier: Apache-2.0
/**
 * The reader, on small modules in upstream's style. It is written in Go: skipped where there is
 * none.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const READER = join(import.meta.dirname, '../../scripts/fields/reader')

function whyNot(): string | false {
  try {
    return Number(/ go1\.(\d+)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }))?.[1] ?? 0) >= 24 ? false : 'needs Go 1.24'
  } catch {
    return 'no Go on the PATH'
  }
}

const TYPES = `package v1beta1
import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
type Mode string
const Fast Mode = "Fast"
type KubeletConfiguration struct {
	metav1.TypeMeta \`json:",inline"\`
	Server *bool \`json:"server,omitempty"\`
	Period metav1.Duration \`json:"period"\`
	Pause *metav1.Duration \`json:"pause"\`
	Mode Mode \`json:"mode"\`
	Level *int32 \`json:"level"\`
	Limits map[string]string \`json:"limits"\`
	EvictionHard map[string]string \`json:"evictionHard"\`
	Auth Auth \`json:"auth"\`
	Taints []Taint \`json:"taints"\`
	Follows *int32 \`json:"follows"\`
}
type Auth struct { Common \`json:",inline"\`; Lists map[string][]string \`json:"lists"\` }
type Common struct { Enabled bool \`json:"enabled"\` }
type Taint struct { Key string \`json:"key"\` }
`
const DEFAULTS = `package v1beta1
import ( "time"; metav1 "x/metav1"; config "k8s.io/kubelet/config/v1beta1"; "k8s.io/kubernetes/pkg/kubelet/ports"; "k8s.io/utils/ptr" )
const level = 2 * ports.Step
var zeroDuration = metav1.Duration{}
func SetDefaults_KubeletConfiguration(obj *config.KubeletConfiguration) {
	if obj.Server == nil { obj.Server = ptr.To(true) }
	if obj.Period == zeroDuration { obj.Period = metav1.Duration{Duration: 90 * time.Second} }
	if obj.Pause == nil { obj.Pause = &metav1.Duration{Duration: time.Hour} }
	if obj.Mode == "" { obj.Mode = config.Fast }
	if obj.Level == nil || *obj.Level < 0 { temp := int32(level); obj.Level = &temp }
	if obj.Follows == nil { if obj.Level == nil { obj.Follows = ptr.To[int32](1) } }
	setAuth(&obj.Auth)
}
func setAuth(a *config.Auth) { if a.Lists == nil { a.Lists = map[string][]string{"z": []string{"b"}, "a": []string{}} } }
`
const FEATURES = `package features
import ( "x/featuregate"; "x/version"; utilfeature "x/feature"; generic "k8s.io/apiserver/pkg/features" )
const Old, Own, Half, Whole featuregate.Feature = "Old", "OwnName", "Half", "Whole"
var plain = map[featuregate.Feature]featuregate.FeatureSpec{ Old: {Default: true, PreRelease: featuregate.GA, LockToDefault: true} }
var versioned = map[featuregate.Feature]featuregate.VersionedSpecs{
	Own: {
		{Version: version.MustParse("1.30"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.34"), Default: true, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.GA},
	},
	generic.Later: {{Version: version.MustParse("1.37"), Default: false, PreRelease: featuregate.Alpha}},
	Half: {
		{Version: version.MustParse("1.35"), Default: false, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.35"), Default: true, PreRelease: featuregate.Beta, MinCompatibilityVersion: version.MustParse("1.35")},
	},
	Whole: {
		{Version: version.MustParse("1.34"), Default: false, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.34"), Default: true, PreRelease: featuregate.Beta, MinCompatibilityVersion: version.MustParse("1.34")},
	},
}
var needs = map[featuregate.Feature][]featuregate.Feature{ Own: {Old, generic.Shared} }
func init() {
	utilfeature.DefaultMutableFeatureGate.Add(plain)
	utilfeature.DefaultMutableFeatureGate.AddVersioned(versioned)
}
`
const GENERIC = `package features
import ( "x/featuregate"; utilfeature "x/feature" )
const ( Later featuregate.Feature = "Later"; Shared featuregate.Feature = "Shared" )
var gates = map[featuregate.Feature]featuregate.FeatureSpec{ Shared: {Default: false, PreRelease: featuregate.Deprecated} }
func init() { utilfeature.DefaultMutableFeatureGate.Add(gates) }
`
const declare = (name: string) => `package features
import "x/featuregate"
const ${name} featuregate.Feature = "${name}"
var gates = map[featuregate.Feature]featuregate.FeatureSpec{ ${name}: {Default: false, PreRelease: featuregate.Alpha} }
func AddFeatureGates(gate featuregate.MutableFeatureGate) error { return gate.Add(gates) }
`
/** Kubelet imports the first over another package, and the second by itself. */
const REGISTER = `package register
import ( utilfeature "x/feature"; features "k8s.io/apiserver/pkg/far" )
func init() { features.AddFeatureGates(utilfeature.DefaultMutableFeatureGate) }
`
const SERVER = `package app
import ( _ "k8s.io/kubernetes/pkg/features"; utilfeature "x/feature"; near "k8s.io/apiserver/pkg/near"; _ "k8s.io/apiserver/pkg/options"; _ "x/unknown" )
func init() { near.AddFeatureGates(utilfeature.DefaultMutableFeatureGate) }
`
const VALIDATION = `package validation
// Words that may be set.
var words = []string{"a"}
func Validate(x int) error {

	// why
	return nil
}
`
const EVICTION = 'package eviction\nvar DefaultEvictionHard = map[string]string{"pid.available": "5%"}\n'

function lay(t: Test, changes: { types?: string; defaults?: string; features?: string } = {}): string[] {
  const folder = t.testdir({
    kubernetes: {
      pkg: {
        features: { 'features.go': changes.features ?? FEATURES, 'features_test.go': 'broken' },
        kubelet: {
          apis: {
            config: {
              'types.go': 'package config\ntype KubeletConfiguration struct {\n\tServer bool\n\tLevel *int32\n}\n',
              v1beta1: { 'defaults.go': changes.defaults ?? DEFAULTS },
              validation: { 'validation.go': VALIDATION },
            },
          },
          eviction: { 'defaults_linux.go': EVICTION, 'defaults_windows.go': 'broken' },
          ports: { 'ports.go': 'package ports\nconst Step = 5\n' },
        },
      },
      cmd: {
        kubelet: { app: { 'server.go': SERVER, options: { 'options.go': 'package options\nfunc (o *Options) Add() {}\n' } } },
        kubeadm: { app: { componentconfigs: { 'kubelet.go': 'package componentconfigs\n', 'zz_generated.go': 'broken' } } },
      },
    },
    kubelet: { config: { v1beta1: { 'types.go': changes.types ?? TYPES } } },
    apiserver: {
      pkg: {
        features: { 'features.go': GENERIC },
        far: { 'features.go': declare('Far'), register: { 'register.go': REGISTER } },
        near: { 'features.go': declare('Near') },
        options: { 'options.go': 'package options\nimport _ "k8s.io/apiserver/pkg/far/register"\n' },
        unused: { 'features.go': declare('Unused'), register: { 'register.go': REGISTER.replace('pkg/far', 'pkg/unused') } },
      },
    },
  })
  return ['kubernetes', 'kubelet', 'apiserver'].map((name) => `k8s.io/${name}=${join(folder, name)}`)
}

t.test('the reader', { skip: whyNot() }, async (t) => {
  const reader = join(t.testdir(), 'reader')
  execFileSync('go', ['build', '-o', reader, '.'], { cwd: READER, env: { ...process.env, GOWORK: 'off', GOTOOLCHAIN: 'local' } })
  const read = (modules: string[]) =>
    JSON.parse(execFileSync(reader, ['1.35', ...modules], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))

  t.test('reads fields, defaults and gates', async (t) => {
    const { fields, defaults, dependent, gates, dependencies, functions } = read(lay(t))
    t.strictSame(fields, [
      { path: 'server', type: 'boolean', pointer: true, zeroInside: true },
      { path: 'period', type: 'duration' },
      { path: 'pause', type: 'nullable-duration', pointer: true },
      { path: 'mode', type: 'string' },
      { path: 'level', type: 'int32', pointer: true },
      { path: 'limits', type: 'string-map', pointer: true },
      { path: 'evictionHard', type: 'string-map', pointer: true },
      { path: 'auth', type: 'object' },
      { path: 'auth.enabled', type: 'boolean' },
      { path: 'auth.lists', type: 'strings-map', pointer: true },
      { path: 'taints', type: 'objects', pointer: true },
      { path: 'taints[].key', type: 'string' },
      { path: 'follows', type: 'int32', pointer: true },
    ])
    t.strictSame(defaults, {
      'auth.lists': { z: ['b'], a: [] },
      evictionHard: { 'pid.available': '5%' },
      level: 10,
      mode: 'Fast',
      pause: '1h',
      period: '1m30s',
      server: true,
    })
    t.strictSame(Object.keys(dependent), ['follows'])
    t.strictSame(gates, {
      Far: { stage: 'alpha', default: false },
      Half: { stage: 'beta', default: false },
      Near: { stage: 'alpha', default: false },
      Old: { stage: 'ga', default: true, locked: true },
      OwnName: { stage: 'beta', default: true },
      Shared: { stage: 'deprecated', default: false },
      Whole: { stage: 'beta', default: true },
    })
    t.strictSame(dependencies, { OwnName: ['Old', 'Shared'] })
    t.strictSame(Object.keys(functions), [
      'cmd/kubelet/app/options.Options.Add',
      'pkg/kubelet/apis/config/v1beta1.SetDefaults_KubeletConfiguration',
      'pkg/kubelet/apis/config/v1beta1.level',
      'pkg/kubelet/apis/config/v1beta1.setAuth',
      'pkg/kubelet/apis/config/v1beta1.zeroDuration',
      'pkg/kubelet/apis/config/validation.Validate',
      'pkg/kubelet/apis/config/validation.words',
    ])
    t.equal(functions['pkg/kubelet/apis/config/validation.Validate'], 'func Validate(x int) error {\n\treturn nil\n}', 'no comments')
  })

  t.test('lists what a file declares, or a folder with those below it', async (t) => {
    const paths = [
      'k8s.io/kubernetes/pkg/kubelet/eviction/defaults_linux.go',
      'k8s.io/kubernetes/cmd/kubelet',
      'k8s.io/kubernetes/pkg/gone',
    ]
    const printed = execFileSync(reader, ['declared', ...lay(t), '--', ...paths], { encoding: 'utf8' })
    t.strictSame(Object.values(JSON.parse(printed)), [['Options.Add', 'init'], [], ['DefaultEvictionHard']])
  })

  t.test('fails where it does not understand the source, and says where', async (t) => {
    const cases: [changes: Parameters<typeof lay>[1], message: RegExp][] = [
      [{ types: TYPES.replace('Level *int32', 'Level chan int') }, /types\.go:11:8: unknown type chan int of level/],
      [{ defaults: DEFAULTS.replace('ptr.To(true)', 'ptr.To(lookUp())') }, /defaults\.go:6:\d+: cannot evaluate lookUp\(\)/],
      [{ defaults: DEFAULTS.replace('setAuth(&obj.Auth)', 'for {}') }, /defaults\.go:12:2: cannot follow for/],
      [{ features: FEATURES.replace('Default: true,', 'Default: isOn(),') }, /features\.go:4:\d+: cannot evaluate isOn\(\)/],
      [
        { features: FEATURES.replace('Old: {Default: true', 'generic.Shared: {Default: true') },
        /Shared is declared twice, and differently/,
      ],
    ]
    for (const [changes, message] of cases) t.throws(() => read(lay(t, changes)), message)
  })
})
