import Foundation
import Testing

@testable import Wiretape

@Suite struct CertificateFileTests {
    /// A folder that is gone with the test.
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
    func whatHoldsNone(text: String, message: String) {
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
