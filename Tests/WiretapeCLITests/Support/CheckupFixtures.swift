import ClientCapabilities

@testable import WiretapeCLI

/// A machine without problems, to be changed in one place.
enum CheckupFixtures {
    static func readings(_ change: (inout CheckupReadings) -> Void = { _ in }) -> CheckupReadings {
        let libcurl = LibcurlFacts(version: "7.88.1", protocols: ["http", "https"], hasHTTP2: true)
        var readings = CheckupReadings(
            facts: PlatformFacts(
                system: .linux, swift: SwiftRelease(6, 3, 1), libcurl: libcurl, permitsNamespace: true, trustsAuthority: true),
            obstacle: nil, authorityFile: "/ca/ca-cert.pem", authority: .present(until: 2_000_000_000, warning: nil),
            systemBundles: ["/etc/ssl/certs/ca-certificates.crt"], bundles: [], variables: [:], proxyListens: nil, now: 1_800_000_000)
        change(&readings)
        return readings
    }
}
