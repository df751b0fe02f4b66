/// Whether a cassette is in a store as a whole.
package enum StorePresence {
    /// What is missing, for people; nil if nothing is.
    package static func missing(_ digest: String, in client: StoreClient, threads: Int) throws(StoreError) -> String? {
        guard let name = ObjectName(digest, .manifest) else { return "its digest is invalid" }
        guard let bytes = try client.bytes(name.path, limit: Manifest.sizeLimit) else { return "its manifest is missing in the store" }
        guard MemoryDigest.hex(bytes) == digest, let manifest = Manifest(bytes) else { return "its manifest is damaged in the store" }
        let presence = try ObjectPresence(of: Array(manifest.objects.keys), in: client, threads: threads)
        let missing = manifest.objects.filter { presence.entries[$0.key]?.size != $0.value }
        return missing.isEmpty ? nil : "\(missing.count) of \(manifest.objects.count) objects are missing in the store"
    }
}
