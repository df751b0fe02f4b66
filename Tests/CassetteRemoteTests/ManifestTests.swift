import TapeBytes
import Testing

@testable import CassetteRemote

struct ManifestTests {
    private static let digest = String(repeating: "ab", count: 32)

    private static func manifest(_ paths: [String] = ["pets.bodies/a.bin", "pets.bodies/b.png"]) throws -> Manifest {
        Manifest(
            name: "pets.json", cassette: try #require(ObjectName(Self.digest, .cassette)), cassetteSize: 10, textDigest: Self.digest,
            textSize: 20,
            exchanges: 2,
            bodies: try paths.map { Manifest.File(path: $0, object: try #require(ObjectName(Self.digest, .body)), size: 5) })
    }

    @Test func manifestIsReadAsItWasWritten() throws {
        let manifest = try Self.manifest()
        #expect(Manifest(manifest.bytes) == manifest)
        #expect(manifest.size == 20)
        // Both bodies are one object.
        #expect(manifest.objects.count == 2)
    }

    @Test(arguments: [
        ["../x.bodies/a"], ["pets.bodies/../a"], ["/etc/passwd"], ["pets.bodies/a/b"], ["pets/a"], ["a.bodies/.."], [".bodies/a"],
        ["pets.bodies/a\\b"], ["b.bodies/a", "a.bodies/a"], ["a.bodies/a", "a.bodies/a"], ["pets.bodies/"], ["pets.bodies/\n"],
    ]) func pathsOutsideOfTheFolderAreRefused(paths: [String]) throws {
        #expect(Manifest(try Self.manifest(paths).bytes) == nil)
    }

    @Test func otherTextsAreNoManifests() throws {
        let text = String(decoding: try Self.manifest().bytes, as: UTF8.self)
        for (old, new) in [
            ("\"manifest\": 1", "\"manifest\": 2"), ("\"size\": 10", "\"size\": -1"),
            ("\"size\": 10", "\"size\": \(Int.max)"), ("\"bytes\": 20", "\"bytes\": 99999999999999"),
            ("pets.json", "../pets.json"), ("pets.json", ".pets.json"), ("\"sha256\": \"ab", "\"sha256\": \"AB"), ("pets.json", "pets"),
        ] {
            let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
            #expect(parts.count == 2, "\(old)")
            #expect(Manifest(Array(parts.joined(separator: new).utf8)) == nil, "\(new)")
        }
        #expect(Manifest([]) == nil)
    }

    @Test func objectsHaveTheirDigestInTheirNames() throws {
        let name = try #require(ObjectName(Self.digest, .cassette))
        #expect(name.path == "objects/ab/\(Self.digest.dropFirst(2)).json.zst")
        #expect(ObjectName(path: name.path) == name)
        for wrong in [
            "objects/ab/x.bin", "objects/cd/\(Self.digest.dropFirst(2))", "manifests/ab/\(Self.digest.dropFirst(2)).bin", "objects//a.bin",
        ] {
            #expect(ObjectName(path: wrong) == nil, "\(wrong)")
        }
    }

    @Test func pointerIsReadAsItWasWritten() throws {
        let pointer = CassettePointer(
            digest: Self.digest, textDigest: Self.digest, size: 3, exchanges: 1, recorded: Timestamp("2026-11-21T08:07:24.927474Z"),
            tool: "wiretape 1")
        #expect(try CassettePointer(Array(pointer.text.utf8), path: "p") == pointer)
    }

    @Test func pointerWithMarksOfAMergeNamesBothDigests() throws {
        let text =
            "wiretape pointer 1\n<<<<<<< ours\ndigest \(Self.digest)\n=======\ndigest \(String(repeating: "cd", count: 32))\n>>>>>>> theirs\n"
        let error = try #require(throws: StoreError.self) { try CassettePointer(Array(text.utf8), path: "p.tape") }
        #expect(error.code == .conflict)
        #expect(error.message.contains("abababababab") && error.message.contains("cdcdcdcdcdcd"))
    }

    @Test func otherTextsAreNoPointers() {
        for text in [
            "", "{}", "wiretape pointer 2\ndigest \(Self.digest)\n",
            "wiretape pointer 1\ndigest ab\ncassette \(Self.digest)\nsize 1\nexchanges 1\n",
        ] {
            #expect(throws: StoreError.self) { try CassettePointer(Array(text.utf8), path: "p") }
        }
    }
}
