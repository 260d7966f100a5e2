import AFLoop
import AFNetworking
import Foundation

extension Kind {
    // MARK: - Caches and cookies

    private static func caching(_ name: String, memory: Int, disk: Int, keys: Int) -> Kind {
        Kind(name: name, expects: .bytes(count: 2000, ownSeed: true)) { stage in
            let folder = stage.folder.appendingPathComponent("cache-\(UUID().uuidString)")
            let cache = URLCache(memoryCapacity: memory, diskCapacity: disk, directory: disk > 0 ? folder : nil)
            let session = stage.session { $0.urlCache = cache }
            return Act { number in
                let key = number % keys
                let end = await session.end(of: stage.url("/cached/\(key)"))
                // The pattern of the key is told as that of the number.
                let isRight = end.data == Pattern.bytes(2000, seed: key)
                return isRight ? End(Pattern.bytes(2000, seed: number)) : end
            } end: {
                await session.invalidated()
                cache.removeAllCachedResponses()
            }
        }
    }

    static let stored = [
        caching("found in a cache", memory: 1 << 20, disk: 0, keys: 4),
        caching("stored in a cache that is full", memory: 60_000, disk: 0, keys: .max),
        caching("found in a cache on disk", memory: 0, disk: 1 << 20, keys: 4),
        caching("stored in a cache on disk that is full", memory: 0, disk: 200_000, keys: .max),
        loading("cookies set, and sent", .text("hello")) { stage, session, number in
            await session.end(of: stage.url("/cookie/\(number % 40)"))
        },
        loading("cookies that expire at once", .text("hello")) { stage, session, number in
            await session.end(of: stage.url("/cookie/\(number % 40)0"))
        },
    ]

    // MARK: - Files

    static let moved = [
        loading("downloaded to a file", .bytes(count: 5000, ownSeed: true)) { stage, session, number in
            await session.end { session.downloadTask(with: stage.url("/bytes/5000/\(number)"), completionHandler: $0) }
        },
        loading("broken off, and resumed", .bytes(count: 3000, ownSeed: false)) { stage, session, _ in
            let first = await session.end { session.downloadTask(with: stage.url("/file"), completionHandler: $0) }
            let data = (first.error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
            // Without any: wrong, unless the server was just replaced.
            guard first.code == URLError.networkConnectionLost.rawValue, let data else { return first }
            return await session.end { session.downloadTask(withResumeData: data, completionHandler: $0) }
        },
        Kind(name: "cancelled with resume data, which is thrown away", expects: .code([-999]), width: 1) { stage in
            let desk = Desk(onData: { ($0 as? URLSessionDownloadTask)?.cancel { _ in } })
            let own = stage.folder.appendingPathComponent("resume-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let session = stage.session(delegate: desk) { $0.temporaryFolder = own }
            return Act { _ in
                let end = await desk.end(of: session.downloadTask(with: stage.url("/stalling-file")))
                // What was kept for resuming is the caller's to remove.
                let folder = own.appendingPathComponent("AFURLSession-\(geteuid())")
                for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
                    try? FileManager.default.removeItem(at: folder.appendingPathComponent(file))
                }
                return end
            } end: {
                await session.invalidated()
            }
            // What has come is told a tenth of a second later.
        }.asLong(as: 20),
        Kind(name: "the disk is full", expects: .code([-3003, -3000, -3001]), width: 1, isAlone: true) { stage in
            let session = stage.session()
            return Act { _ in
                Faults.fullDisk()
                return await session.end {
                    session.downloadTask(with: stage.url("/bytes/5000/1"), completionHandler: $0)
                }
            } end: {
                await session.invalidated()
                Faults.stop()
            }
        },
        Kind(name: "uploaded from a file", expects: .bytes(count: 3000, ownSeed: false)) { stage in
            let file = stage.folder.appendingPathComponent("upload-\(UUID().uuidString)")
            try Pattern.bytes(3000, seed: 3).write(to: file)
            let session = stage.session()
            return Act { _ in
                await ended { done in
                    session.uploadTask(with: posting(stage, "/echo", Data()), fromFile: file) { done(End($0, $1, $2)) }
                }
            } end: {
                await session.invalidated()
            }
        },
        Kind(name: "uploaded from a file that is not there", expects: .code([-1100, -3000])) { stage in
            let file = stage.folder.appendingPathComponent("nothing")
            let session = stage.session()
            return Act { _ in
                await ended { done in
                    session.uploadTask(with: posting(stage, "/echo", Data()), fromFile: file) { done(End($0, $1, $2)) }
                }
            } end: {
                await session.invalidated()
            }
        },
    ]

    // MARK: - Without a server

    static let local = [
        loading("a data URL", .text("hello")) { stage, session, _ in
            await session.end(of: URL(string: "data:,hello") ?? stage.folder)
        },
        Kind(name: "a file URL", expects: .bytes(count: 3000, ownSeed: false)) { stage in
            let file = stage.folder.appendingPathComponent("local-\(UUID().uuidString)")
            try Pattern.bytes(3000, seed: 3).write(to: file)
            let session = stage.session()
            return Act { _ in
                await session.end(of: file)
            } end: {
                await session.invalidated()
            }
        },
        loading("an unknown scheme", .code([URLError.unsupportedURL.rawValue])) { stage, session, _ in
            await session.end(of: URL(string: "gopher://localhost/") ?? stage.folder)
        },
        Kind(name: "a session, made and invalidated", expects: .done) { stage in
            Act { number in
                let session = stage.session()
                if number % 2 == 0 { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
                return End()
            }
        },
        Kind(name: "a session, used once and invalidated", expects: .text("hello")) { stage in
            Act { _ in
                let session = stage.session()
                let end = await session.end(of: stage.url("/hello"))
                session.finishTasksAndInvalidate()
                return end
            }
        },
        Kind(name: "a session, used once and dropped", expects: .text("hello")) { stage in
            Act { _ in await stage.session().end(of: stage.url("/hello")) }
        },
        Kind(name: "a task that is never started", expects: .done) { stage in
            Act { _ in
                let session = stage.session()
                _ = session.dataTask(with: stage.url("/hello"))
                session.invalidateAndCancel()
                return End()
            }
        },
    ]
}
