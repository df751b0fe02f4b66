import Foundation
import TapeTLS
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct NamespacePlanTests {
    private let plan = NamespacePlan(
        bundle: "/a b/bundle=.pem", holder: "/h", files: ["/f 1", "--", "/f=2"].filter { $0 != "--" }, folders: ["/d"],
        roots: [.init(hash: "0123abcd", path: "/r=1")])

    @Test func itIsReadAsItWasWritten() {
        for command in [[], ["sh", "-c", "--", "root=x"]] {
            let words = self.plan.arguments(for: command)
            #expect(words.first == "__enter-namespace")
            #expect(Array(words.suffix(command.count + 1)) == ["--"] + command)
            #expect(NamespacePlan(arguments: words) == self.plan)
            var java = self.plan
            (java.javaStore, java.javaFiles) = ("/s=1", ["/c 1", "/c=2"])
            #expect(NamespacePlan(arguments: java.arguments(for: command)) == java)
            for isolation in [
                NamespacePlan.Isolation(socket: 5, port: 7070, reach: [80, 9000]), .init(socket: nil, port: 0, reach: []),
            ] {
                var plan = self.plan
                plan.isolation = isolation
                #expect(NamespacePlan(arguments: plan.arguments(for: command)) == plan)
            }
        }
    }

    @Test(arguments: [
        [], ["__enter-namespace"], ["__enter-namespace", "b", "h"], ["record", "b", "h", "--"], ["__enter-namespace", "b", "--"],
        ["__enter-namespace", "b", "h", "x", "--"], ["__enter-namespace", "b", "h", "x=y", "--"],
        ["__enter-namespace", "b", "h", "root=x", "--"], ["__enter-namespace", "b", "h", "isolation=5", "--"],
        ["__enter-namespace", "b", "h", "isolation=5,70000", "--"], ["__enter-namespace", "b", "h", "isolation=x,1", "--"],
        ["__enter-namespace", "b", "h", "isolation=5,1,x", "--"],
    ])
    func anythingElseIsNoPlan(words: [String]) { #expect(NamespacePlan(arguments: words) == nil) }
}

@Suite struct NamespacePlanSystemTests {
    @Test func theAuthoritysRootsLieReadyUnderTheirHashes() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (try MadeAuthority(in: folder.file("1")), try MadeAuthority(in: folder.file("2")))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let trust = ChildTrust(bundle: "/bundle.pem", javaStore: nil, wgetSettings: "", notices: [])
        for _ in 0..<2 {
            let plan = try NamespacePlan.prepare(
                trust, authority: one.pem + two.pem, folder: TrustFolder(path: folder.file("trust")), files: ["/f"], folders: ["/d"],
                javaFiles: [])
            #expect(plan.javaStore == nil && plan.javaFiles.isEmpty)
            #expect(plan.bundle == "/bundle.pem" && plan.files == ["/f"] && plan.folders == ["/d"])
            #expect(plan.holder == folder.file("trust/holder"))
            #expect(try plan.roots.map { try WholeFile.read($0.path) } == [one.pem, two.pem])
            #expect(try plan.roots.map(\.hash) == [Certificate(pem: one.pem).subjectHash, Certificate(pem: two.pem).subjectHash])
        }
    }

    @Test func theBundleIsThereForJavaToo() throws {
        let folder = try TemporaryFolder()
        let authority = try MadeAuthority(in: folder.file("1"))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let bundle = try folder.write(authority.pem, to: "bundle.pem")
        let trust = ChildTrust(bundle: bundle, javaStore: nil, wgetSettings: "", notices: [])
        let plan = try NamespacePlan.prepare(
            trust, authority: authority.pem, folder: TrustFolder(path: folder.file("trust")), files: [], folders: [],
            javaFiles: ["/cacerts"])
        let store = try WholeFile.read(try #require(plan.javaStore))
        #expect(plan.javaFiles == ["/cacerts"] && store.starts(with: [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2, 0, 0, 0, 1]))
    }

    @Test func theRootsThatOnlyTheCoveredFileOfJavaHasStay() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (try MadeAuthority(in: folder.file("1")), try MadeAuthority(in: folder.file("2")))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let covered = try JavaKeyStore.file(certificatesPEM: two.pem + one.pem, password: "other")
        let plan = try NamespacePlan.prepare(
            ChildTrust(bundle: try folder.write(one.pem, to: "bundle.pem"), javaStore: nil, wgetSettings: "", notices: []),
            authority: one.pem,
            folder: TrustFolder(path: folder.file("trust")), files: [], folders: [],
            javaFiles: [try folder.write(covered, to: "cacerts"), try folder.write(Array("no store".utf8), to: "other"), "/missing"])
        let store = try WholeFile.read(try #require(plan.javaStore))
        #expect(store == (try JavaKeyStore.file(certificatesPEM: one.pem + two.pem, password: "changeit")))
    }

    /// The format of JDK 18 and later.
    @Test func theRootsOfACoveredFileOfPKCS12Stay() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (try MadeAuthority(in: folder.file("1")), try MadeAuthority(in: folder.file("2")))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let covered = try TrustStore.pkcs12(certificatesPEM: two.pem, password: "other")
        let plan = try NamespacePlan.prepare(
            ChildTrust(bundle: try folder.write(one.pem, to: "bundle.pem"), javaStore: nil, wgetSettings: "", notices: []),
            authority: one.pem, folder: TrustFolder(path: folder.file("trust")), files: [], folders: [],
            javaFiles: [try folder.write(covered, to: "cacerts")])
        let store = try WholeFile.read(try #require(plan.javaStore))
        #expect(store == (try JavaKeyStore.file(certificatesPEM: one.pem + two.pem, password: "changeit")))
    }

    @Test func aSessionsAuthorityIsWhatItsBundleHasBesidesTheSystems() throws {
        let folder = try TemporaryFolder()
        let (one, two) = (try MadeAuthority(in: folder.file("1")), try MadeAuthority(in: folder.file("2")))
        try FileManager.default.createDirectory(atPath: folder.file("trust"), withIntermediateDirectories: false)
        let bundle = try folder.write(one.pem + two.pem, to: "bundle.pem")
        let plan = try NamespacePlan.prepare(
            sessionBundle: bundle, folder: TrustFolder(path: folder.file("trust")), files: ["/f"], folders: ["/d"], javaFiles: ["/cacerts"],
            system: { one.pem })
        #expect(plan.bundle == bundle && plan.files == ["/f"] && plan.folders == ["/d"] && plan.javaFiles == ["/cacerts"])
        #expect(try plan.roots.map { try WholeFile.read($0.path) } == [two.pem])
        #expect(try WholeFile.read(try #require(plan.javaStore)).starts(with: [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2, 0, 0, 0, 2]))
    }

    @Test func aFolderThatCannotBeCreatedIsReported() throws {
        let trust = ChildTrust(bundle: "b", javaStore: nil, wgetSettings: "", notices: [])
        let problem = trustProblem {
            _ = try NamespacePlan.prepare(trust, authority: [], folder: TrustFolder(path: "/dev/null"), files: [], folders: [])
        }
        #expect(problem?.contains("--ca-dir") == true)
    }
}
