// SPDX-License-Identifier: Apache-2.0
/**
 * The texts of `status.config.error` that kubelet 1.20 had, word for word, as people search for
 * them.
 */
export const LOAD_ERROR = 'failed to load config, see Kubelet log for details'
export const VALIDATE_ERROR = 'failed to validate config, see Kubelet log for details'
export const DOWNLOAD_ERROR = 'failed to sync: failed to download config, see Kubelet log for details'
export const INTERNAL_ERROR = 'failed to sync: internal failure, see Kubelet log for details'
