// SPDX-License-Identifier: Apache-2.0
/**
 * Defaults that depend on other fields or on feature gates: the code that sets them.
 *
 * Read from k8s.io/kubernetes and the modules k8s.io/kubelet, api, apiserver,
 * apiextensions-apiserver, client-go, component-base, cloud-provider and controller-manager of the
 * same releases: v1.20.15 v1.21.14 v1.22.17 v1.23.17 v1.24.17 v1.25.16 v1.26.15 v1.27.16 v1.28.15
 * v1.29.15 v1.30.14 v1.31.14 v1.32.13 v1.33.13 v1.34.4 v1.35.4 v1.36.3 v1.37.2 v1.38.0-beta.0.
 *
 * Written by `npm run fields`: do not edit. SHA-256 of this text with zeros here:
 * a58818789ad5a754be7e657776acc9319b146ae62ecc9559ef39ff54538aa41b
 */
export const DEPENDENT_DEFAULTS: Readonly<Record<string, readonly (readonly [since: number, code: string])[]>> = {
  nodeStatusReportFrequency: [
    [
      20,
      'if obj.NodeStatusReportFrequency == zeroDuration { if obj.NodeStatusUpdateFrequency == zeroDuration { obj.NodeStatusReportFrequency = metav1.Duration{Duration: 5 * time.Minute} } else { obj.NodeStatusReportFrequency = obj.NodeStatusUpdateFrequency } }',
    ],
  ],
  serializeImagePulls: [
    [
      27,
      'if obj.SerializeImagePulls == nil { if obj.MaxParallelImagePulls == nil || *obj.MaxParallelImagePulls < 2 { obj.SerializeImagePulls = utilpointer.Bool(true) } else { obj.SerializeImagePulls = utilpointer.Bool(false) } }',
    ],
    [
      32,
      'if obj.SerializeImagePulls == nil { if obj.MaxParallelImagePulls == nil || *obj.MaxParallelImagePulls < 2 { obj.SerializeImagePulls = ptr.To(true) } else { obj.SerializeImagePulls = ptr.To(false) } }',
    ],
  ],
  'crashLoopBackOff.maxContainerRestartPeriod': [
    [
      32,
      'if localFeatureGate.Enabled(features.KubeletCrashLoopBackOffMax) { if obj.CrashLoopBackOff.MaxContainerRestartPeriod == nil { obj.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: MaxContainerBackOff} } }',
    ],
  ],
  imagePullCredentialsVerificationPolicy: [
    [
      33,
      'if localFeatureGate.Enabled(features.KubeletEnsureSecretPulledImages) { if obj.ImagePullCredentialsVerificationPolicy == "" { obj.ImagePullCredentialsVerificationPolicy = kubeletconfigv1beta1.NeverVerifyPreloadedImages } }',
    ],
  ],
}
