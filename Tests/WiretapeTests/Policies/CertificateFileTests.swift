import Foundation
import TapeTestSupport
import TapeTrust
import Testing
@testable import Wiretape

@Suite struct CertificateFileTests {
    /// A folder that is deleted with the test.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: self.url) }

        @discardableResult
        func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> URL {
            let file = self.url.appending(path: name)
            try Data(bytes).write(to: file)
            return file
        }
    }

    @Test func aFileOfEitherKind() throws {
        let folder = try Folder()
        #expect(try CertificateFile(contentsOf: folder.write(SampleCertificate.ec, to: "a.der")).certificates == [SampleCertificate.ec])
        let pem = "two of them\n" + SampleCertificate.pem(SampleCertificate.ec) + SampleCertificate.pem(SampleCertificate.rsa)
        let file = try CertificateFile(contentsOf: folder.write(pem.utf8, to: "b.pem"))
        #expect(file.certificates == [SampleCertificate.ec, SampleCertificate.rsa])
        #expect(file.publicKeyPins.map(\.description) == [SampleCertificate.ecPin, SampleCertificate.rsaPin])
        let windows = SampleCertificate.pem(SampleCertificate.ec).replacing("\n", with: "\r\n")
        #expect(try CertificateFile(contentsOf: folder.write(windows.utf8, to: "c.crt")).certificates == [SampleCertificate.ec])
    }

    @Test(arguments: [
        ("", "\"x.pem\" contains no certificate in DER or PEM: choose a file that does"),
        ("hello", "\"x.pem\" contains no certificate in DER or PEM: choose a file that does"),
        ("-----BEGIN CERTIFICATE-----\nAAAA", "certificate 1 of \"x.pem\" is damaged: copy the file again"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "certificate 1 of \"x.pem\" is damaged: copy the file again"),
        ("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----", "certificate 1 of \"x.pem\" is damaged: copy the file again"),
    ])
    func fileWithoutCertificatesIsRefused(text: String, message: String) {
        #expect(throws: ServerTrustError(.badCertificate, message)) {
            try CertificateFile.certificates(in: Array(text.utf8), named: "x.pem")
        }
    }

    @Test func aHugeFileIsNotRead() throws {
        let folder = try Folder()
        let url = try folder.write([UInt8](repeating: 0, count: CertificateFile.sizeLimit + 1), to: "a.der")
        let error = #expect(throws: ServerTrustError.self) { try CertificateFile(contentsOf: url) }
        #expect(error?.code == .badCertificate)
        #expect(throws: (any Error).self) { try CertificateFile(contentsOf: folder.url.appending(path: "none.der")) }
    }

    @Test func allOfABundle() throws {
        let empty = try Folder()
        let none = try #require(Bundle(path: empty.url.path))
        let error = #expect(throws: ServerTrustError.self) { try CertificateFile(bundle: none) }
        #expect(error?.code == .badCertificate && error?.message.contains(empty.url.lastPathComponent) == true)
        let folder = try Folder()
        try folder.write(SampleCertificate.rsa, to: "b.cer")
        try folder.write(SampleCertificate.pem(SampleCertificate.ec).utf8, to: "a.pem")
        try folder.write(SampleCertificate.ed, to: "c.DER")
        try folder.write(Array("x".utf8), to: "d.txt")
        let bundle = try #require(Bundle(path: folder.url.path))
        #expect(
            try CertificateFile(bundle: bundle).certificates == [SampleCertificate.ec, SampleCertificate.rsa, SampleCertificate.ed])
    }
}

@Suite struct CertificateTests {
    @Test(arguments: [
        (SampleCertificate.rsa, SampleCertificate.rsaPin), (SampleCertificate.ec, SampleCertificate.ecPin),
        (SampleCertificate.ed, SampleCertificate.edPin), (SampleCertificate.v1, SampleCertificate.v1Pin),
    ])
    func keysArePinnedAsOpenSSLPinsThem(der: [UInt8], pin: String) throws {
        #expect(try #require(Certificate(der)).publicKeyPin?.description == pin)
    }

    @Test func namesOfHostsAreRead() throws {
        let rsa = try #require(Certificate(SampleCertificate.rsa))
        #expect(rsa.hosts == ["www.example.com", "*.wild.example", "*.com"])
        #expect(rsa.addresses == [[127, 0, 0, 1], Array(repeating: 0, count: 15) + [1]])
        #expect(try #require(Certificate(SampleCertificate.ec)).hosts == ["ec.example"])
        #expect(try #require(Certificate(SampleCertificate.v1)).hosts == [])
    }

    @Test(arguments: [
        ("www.example.com", true), ("WWW.Example.COM", true), ("www.example.com.", true), ("example.com", false),
        ("a.www.example.com", false), ("a.wild.example", true), ("wild.example", false), ("a.b.wild.example", false),
        ("anything.com", false), ("common.example", false), ("127.0.0.1", true),
        ("127.0.0.2", false), ("::1", true), ("[::1]", true), ("::2", false), ("", false), ("*.wild.example", true),
    ])
    func hostsThatItIsFor(host: String, isNamed: Bool) throws {
        #expect(try #require(Certificate(SampleCertificate.rsa)).names(host) == isNamed)
    }

    @Test func aCommonNameDoesNotCount() throws { #expect(try #require(Certificate(SampleCertificate.ed)).names("ed.example") == false) }

    @Test func bytesThatAreNoCertificateAreNil() {
        #expect(Certificate([]) == nil)
        #expect(Certificate(Array("-----BEGIN".utf8)) == nil)
        #expect(Certificate(SampleCertificate.ec + [0]) == nil)
        for length in 0..<SampleCertificate.ec.count { #expect(Certificate(Array(SampleCertificate.ec.prefix(length))) == nil) }
    }

    /// Any content gives a certificate or nothing, and never a crash.
    @Test func damagedOnesAreRead() {
        var generator = SeededGenerator(seed: 7)
        for original in [SampleCertificate.rsa, SampleCertificate.ec, SampleCertificate.v1] {
            for _ in 0..<2000 {
                var damaged = original
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
                }
                _ = Certificate(damaged)?.names("www.example.com")
            }
        }
    }
}

@Suite struct DERReaderTests {
    @Test func elementsComeOneAfterTheOther() {
        var reader = DERReader([0x02, 0x01, 0x05, 0x30, 0x80 | 1, 0x02, 0xAA, 0xBB, 0x04, 0x82, 0x00, 0x01, 0x07][...])
        #expect(reader.next(DERReader.sequence) == nil)
        let integer = reader.next(DERReader.integer)
        #expect(integer?.content == [5] && integer?.whole == [0x02, 0x01, 0x05])
        let sequence = reader.next()
        #expect(sequence?.tag == 0x30 && sequence?.content == [0xAA, 0xBB] && sequence?.whole == [0x30, 0x81, 0x02, 0xAA, 0xBB])
        #expect(!reader.isAtEnd)
        #expect(reader.next(DERReader.octetString)?.content == [7])
        #expect(reader.isAtEnd && reader.next() == nil)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x01], [0x30, 0x80, 0x00, 0x00], [0x30, 0x85, 0, 0, 0, 0, 0], [0x30, 0x82, 0x01], [0x1F, 0x01, 0x00],
            [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x00],
        ] as [[UInt8]])
    func invalidElementIsNil(bytes: [UInt8]) {
        var reader = DERReader(bytes[...])
        #expect(reader.next() == nil)
    }
}

@Suite struct ServerTrustPinsTests {
    @Test func keysAndCertificatesOfAFile() throws {
        let file = try Self.file()
        guard
            case .pinnedCertificates(let certificates, validatesChain: true, validatesHost: false) = ServerTrust.pinnedCertificates(
                in: file, validatesHost: false)
        else {
            Issue.record("not pinned")
            return
        }
        #expect(certificates == [SampleCertificate.ec])
        guard
            case .pinnedPublicKeys(let keys, validatesChain: false, validatesHost: true) = ServerTrust.pinnedKeys(
                in: file, validatesChain: false)
        else {
            Issue.record("not pinned")
            return
        }
        #expect(keys.compactMap { PublicKeyPin(digest: $0)?.description } == [SampleCertificate.ecPin])
        guard case .defaultEvaluation(validatesHost: true) = ServerTrust.default else {
            Issue.record("another default")
            return
        }
    }

    private static func file() throws -> CertificateFile {
        let url = FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString).der")
        try Data(SampleCertificate.ec).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try CertificateFile(contentsOf: url)
    }
}
