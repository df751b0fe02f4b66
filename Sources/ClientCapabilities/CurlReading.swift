internal import Platform

/// Asks the machine's libcurl, the one that FoundationNetworking is linked with, what it is. Nothing of ours is linked with it.
package enum CurlReading {
    package static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    /// - Returns: nil where there is none, or it does not answer.
    package static func facts(names: [String] = Self.names) -> LibcurlFacts? {
        for name in names {
            guard let library = dlopen(name, RTLD_LAZY | RTLD_LOCAL), let symbol = dlsym(library, "curl_version_info") else { continue }
            // SAFETY: curl_version_info_data *curl_version_info(CURLversion); 0 asks for what every release has.
            let versionInfo = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> UnsafeRawPointer?).self)
            if let facts = versionInfo(0).flatMap(Self.facts) { return facts }
        }
        return nil
    }

    /// `struct curl_version_info_data` of curl/curl.h as 64-bit systems lay it out: members only ever come behind these.
    private static func facts(at data: UnsafeRawPointer) -> LibcurlFacts? {
        guard MemoryLayout<Int>.size == 8, let version = Self.text(data.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self)) else {
            return nil
        }
        let features = data.load(fromByteOffset: 32, as: Int32.self)
        var protocols: Set<String> = []
        var next = data.load(fromByteOffset: 64, as: UnsafePointer<UnsafePointer<CChar>?>?.self)
        // The list ends with a null; libcurl knows some thirty.
        while let name = Self.text(next?.pointee), protocols.count < 256 {
            protocols.insert(name.lowercased())
            next = next?.advanced(by: 1)
        }
        // CURL_VERSION_HTTP2.
        return LibcurlFacts(version: version, protocols: protocols, hasHTTP2: features & (1 << 16) != 0)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
}
