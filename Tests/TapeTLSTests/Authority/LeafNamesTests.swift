import Testing
@testable import TapeTLS

@Suite struct LeafNamesTests {
    @Test func hostComesFirstThenServerNameThenUpstream() {
        let names = LeafNames(
            host: "WWW.Example.test.", serverName: "api.example.test", upstream: ["*.example.test", "www.example.TEST", "10.0.0.1"])
        #expect(names.dnsNames == ["www.example.test", "api.example.test", "*.example.test"])
        #expect(names.addresses == [[10, 0, 0, 1]])
        #expect(names.count == 4)
        #expect(names.first == "www.example.test")
    }

    @Test func literalsAreAddresses() {
        let names = LeafNames(host: "[2001:db8::1]", upstream: ["2001:0db8::0:1", "127.0.0.1"])
        #expect(names.dnsNames.isEmpty)
        #expect(names.addresses == [[0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [127, 0, 0, 1]])
        #expect(names.first == "2001:db8::1")
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", "a b", "a\0b", "a/b", "a:443", "b\u{FC}cher.test", "*", "*.test", "a.*.test", "%61", "::g", "[::1",
    ])
    func whatIsNoHostIsDropped(host: String) {
        #expect(LeafNames(host: host).count == 0)
        #expect(LeafNames(host: host).first == nil)
    }

    @Test func wildcardsAreTakenFromTheUpstreamOnly() {
        #expect(
            LeafNames(host: "a.test", upstream: ["*.test", "*", "*.", "a*.test", "a.*.test", "**.test"]).dnsNames == ["a.test", "*.test"])
    }

    @Test func namesAndLabelsHaveTheLengthsOfDNS() {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(label.dropLast(2))"
        #expect(LeafNames(host: longest).dnsNames == [longest])
        #expect(LeafNames(host: longest + "a").count == 0)
        #expect(LeafNames(host: label + "a.test").count == 0)
        #expect(LeafNames(host: "xn--bcher-kva.test").dnsNames == ["xn--bcher-kva.test"])
        #expect(LeafNames(host: "_dmarc.a-b.test").count == 1)
    }

    @Test func atMostAHundred() {
        let names = LeafNames(host: "a.test", serverName: "b.test", upstream: (0..<300).map { "h\($0).test" })
        #expect(names.count == 100)
        #expect(names.dnsNames.last == "h97.test")
    }

    /// Whatever comes in, what comes out is a set of plain names, and putting it in again changes nothing.
    @Test func anyTextsMakePlainNames() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array("abZ09-_.*:[]%\0 \u{FC}\u{1F600}")
        func text() -> String {
            String((0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) })
        }
        for _ in 0..<5000 {
            let upstream = (0..<Int.random(in: 0...5, using: &generator)).map { _ in text() }
            let names = LeafNames(host: text(), serverName: Bool.random(using: &generator) ? text() : nil, upstream: upstream)
            #expect(Set(names.dnsNames).count == names.dnsNames.count)
            for name in names.dnsNames {
                #expect(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) })
                #expect(CertificateAddress(name) == nil && !name.hasSuffix("."))
            }
            let again = LeafNames(host: "", upstream: names.dnsNames + names.addresses.compactMap { CertificateAddress($0)?.description })
            #expect(again == names)
        }
    }
}
