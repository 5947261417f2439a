"""What Java throws, in words."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

# By the end of the name of a class: the first that fits the error or one of its causes.
_ERRORS = (
    ("FileNotFoundException", errno.ENOENT, None),
    ("NoSuchFileException", errno.ENOENT, None),
    ("FileAlreadyExistsException", errno.EEXIST, None),
    ("AlreadyBeingCreatedException", errno.EEXIST, None),
    ("ParentNotDirectoryException", errno.ENOTDIR, None),
    ("PathIsNotEmptyDirectoryException", errno.ENOTEMPTY, None),
    ("AccessControlException", errno.EACCES, None),
    ("NoAuthWithAWSException", errno.EACCES, "there are no credentials for it"),
    ("CredentialInitializationException", errno.EACCES, "there are no credentials for it"),
    ("AccessDeniedException", errno.EACCES, "the store denies access; are there credentials?"),
    ("UnsupportedFileSystemException", errno.EPROTONOSUPPORT, "Spark knows no such store"),
    ("ClassNotFoundException", errno.ENOPKG, "this session lacks the jars of that store"),
    ("NoClassDefFoundError", errno.ENOPKG, "this session lacks the jars of that store"),
    ("UnknownHostException", errno.EHOSTUNREACH, "its host is not known"),
    ("ConnectException", errno.EHOSTUNREACH, "nothing answers there"),
    ("ConnectTimeoutException", errno.EHOSTUNREACH, "nothing answers there"),
    ("NotInMountpointException", errno.ENOENT, "it lies in no mount point"),
    ("SafeModeException", errno.EROFS, "the store is in safe mode"),
    ("QuotaExceededException", errno.EDQUOT, None),
    ("IllegalArgumentException", errno.EINVAL, "that is no address of a store"),
)


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Turn what Java throws into an OSError without its text, which may name a partition."""
    try:
        yield
    except Py4JJavaError as error:
        raise _os_error(error.java_exception) from None
    except CapturedException as error:  # what pyspark makes of the more usual ones
        raise _os_error(error._origin) from None
    except Py4JError:
        raise OSError(errno.EIO, "the JVM of the driver does not answer") from None


def _os_error(thrown: Any) -> OSError:
    names: list[str] = []
    while thrown is not None and len(names) < 20:
        names.append(str(thrown.getClass().getName()))
        thrown = thrown.getCause()
    for end, number, text in _ERRORS:
        if any(name.endswith(end) for name in names):
            return OSError(number, text or os.strerror(number))
    named = names[0].rpartition(".")[2] if names else "an error"
    return OSError(errno.EIO, f"the store failed with {named}")
